"""The errors that hitsend raises, as a tree. Any other exception is a bug.

* HitsendError
  x Refused              the caller's error; the message is safe to show and says what to do
    + Unauthenticated      401  no valid credential
      - KeyInvalid         401  no valid API key, where one is needed
    + NotAllowed           403  the caller has no permission
      - ScopeMissing       403  the API key may not do this
      - PasswordNeeded       403  the password has to be given again first
      - SecondFactorNeeded   403  a second factor has to be set up first
      - DestinationRefused   403  an address that hitsend does not connect to
    + NotFound             404  does not exist, or belongs to someone else: same response
    + MethodNotAllowed     405  the path has no such method
    + Conflict             409  done already, or changed concurrently
    + Gone                 410  no longer streamed; the result is stored
    + TooLarge             413  over a size limit
    + StorageSpent         413  over the person's storage; says what to delete
    + TooFast              429  over a rate limit; says when to retry
      - QuotaSpent         429  over the day's tokens
    + PasswordWeak         400  a new password that is easy to guess
    + NameMixed            400  a new name in several alphabets
    + KeyReused            422  an idempotency key of a different request
    + TokenExpired          401  one of our signed tokens, expired
    + TokenInvalid          401  not one of our signed tokens, or for another purpose
    + ProofNeeded          403  proof of work required; says where to get a challenge
    + UnknownModel         404  no such model
    + PromptTooLong        400  the message alone exceeds the model's window
    + BadImport            422  the imported file cannot be read; says where
  x Unavailable          the server's error; a retry may work
    + Overloaded           503  too many turns already
    + EngineDown           503  no engine can take the prompt now
    + EngineLost           503  the engine died while answering
    + StoreDown            503  the database could not be written
    + ModelBroken          503  the weights are missing, damaged or malicious; says how to fix it

`code` identifies the error to programs and is part of the protocol: it never changes.
Foreign exceptions are translated where they enter (engine, store) and nowhere else.
"""

from collections.abc import Sequence
from typing import ClassVar

from hitsend.allowance import Allowance


class HitsendError(Exception):
    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(
        self, message: str, *, param: str | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s


class Refused(HitsendError):
    code = "invalid_request"
    status = 400


class Unauthenticated(Refused):
    code = "unauthenticated"
    status = 401


class KeyInvalid(Unauthenticated):
    code = "invalid_api_key"


class NotAllowed(Refused):
    code = "not_allowed"
    status = 403


class ScopeMissing(NotAllowed):
    code = "insufficient_scope"

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        retry_after_s: float | None = None,
        scopes: Sequence[str] = (),
    ) -> None:
        """`scopes`: what the key would need, all of it."""
        super().__init__(message, param=param, retry_after_s=retry_after_s)
        self.scopes = scopes


class PasswordNeeded(NotAllowed):
    code = "password_required"


class SecondFactorNeeded(NotAllowed):
    code = "second_factor_required"


class DestinationRefused(NotAllowed):
    code = "destination_refused"


class NotFound(Refused):
    code = "not_found"
    status = 404


class MethodNotAllowed(Refused):
    code = "method_not_allowed"
    status = 405


class Conflict(Refused):
    code = "conflict"
    status = 409


class Gone(Refused):
    code = "persisted_final_available"
    status = 410


class TooLarge(Refused):
    code = "too_large"
    status = 413


class StorageSpent(Refused):
    code = "storage_limit_reached"
    status = 413


class TooFast(Refused):
    code = "rate_limit_exceeded"
    status = 429

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        retry_after_s: float | None = None,
        allowances: Sequence[Allowance] = (),
        is_shared: bool = False,
    ) -> None:
        """`is_shared`: others use the same limit, such as that of an address."""
        super().__init__(message, param=param, retry_after_s=retry_after_s)
        self.allowances = allowances
        self.is_shared = is_shared


class QuotaSpent(TooFast):
    code = "quota_exceeded"


class PasswordWeak(Refused):
    code = "password_weak"


class NameMixed(Refused):
    code = "name_mixed"


class KeyReused(Refused):
    code = "idempotency_key_reused"
    status = 422


class TokenExpired(Refused):
    code = "token_expired"
    status = 401


class TokenInvalid(Refused):
    code = "token_invalid"
    status = 401


class ProofNeeded(Refused):
    code = "proof_of_work_required"
    status = 403


class UnknownModel(Refused):
    code = "model_not_found"
    status = 404


class PromptTooLong(Refused):
    code = "context_length_exceeded"
    status = 400


class BadImport(Refused):
    code = "bad_import"
    status = 422


class Unavailable(HitsendError):
    code = "unavailable"
    status = 503


class Overloaded(Unavailable):
    code = "server_overloaded"


class EngineDown(Unavailable):
    code = "engine_down"


class EngineLost(Unavailable):
    code = "worker_lost"


class StoreDown(Unavailable):
    code = "store_down"


class DiskFull(StoreDown):
    code = "disk_full"


class DatabaseDamaged(StoreDown):
    code = "database_damaged"


class ModelBroken(Unavailable):
    code = "model_broken"

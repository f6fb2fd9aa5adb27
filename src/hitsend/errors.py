"""Everything that can go wrong on purpose, as a tree. Whatever is not in it is a bug.

* HitsendError
  x Refused              the sender's to mend; the message is safe to show and says what to do
    + Unauthenticated      401  no credential, or one that does not hold
    + NotAllowed           403  known, but may not do this
    + NotFound             404  not there, or not theirs: the two answer alike
    + MethodNotAllowed     405  there, but not to be called like that
    + Conflict             409  it happened already, or someone was quicker
    + Gone                 410  no longer streamed; what became of it is stored
    + TooLarge             413  over a size limit, known before reading it all
    + TooFast              429  over a rate limit; says when to come back
      - QuotaSpent         429  over the tokens of a day
    + KeyReused            422  an idempotency key that was used for something else
    + PassExpired          401  a token of ours that held once
    + PassInvalid          401  a token that is not ours, or not for this
    + ProofNeeded          403  some work has to be done first; says where to ask for it
    + UnknownModel         404  no such model here
    + PromptTooLong        400  even alone, the message does not fit the model's window
    + BadImport            422  what was brought along cannot be read; says where
  x Unavailable          ours; trying again may work
    + Overloaded           503  too much to do already
    + EngineDown           503  no engine can take the prompt now
    + EngineLost           503  the engine died while it was answering
    + StoreDown            503  the database could not be written
    + ModelBroken          503  the weights are missing, damaged or hostile; says how to mend it

`code` is the machine's name for what happened and is part of the protocol: it never changes.
Foreign exceptions are translated where they enter (engine, store) and nowhere else.
"""

from collections.abc import Sequence
from typing import ClassVar

from hitsend.allowance import Allowance


class HitsendError(Exception):
    """Every error hitsend raises on purpose."""

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


class NotAllowed(Refused):
    code = "not_allowed"
    status = 403


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
        """`is_shared`: it was a limit that others use up too, such as an address's."""
        super().__init__(message, param=param, retry_after_s=retry_after_s)
        self.allowances = allowances
        self.is_shared = is_shared


class QuotaSpent(TooFast):
    code = "quota_exceeded"


class KeyReused(Refused):
    code = "idempotency_key_reused"
    status = 422


class PassExpired(Refused):
    code = "token_expired"
    status = 401


class PassInvalid(Refused):
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


class ModelBroken(Unavailable):
    code = "model_broken"

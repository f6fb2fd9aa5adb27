"""Sign-ins between their two steps: the password was right, and the second factor is awaited.

In memory, so that none outlives a restart. A random token in a cookie, which no script can read,
names one: it belongs to the browser that gave the password. It ends with the sign-in, or after five
minutes.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cachetools import TTLCache

from hitsend.credentials import hash_token, new_token
from hitsend.errors import TokenExpired
from hitsend.store import User

PENDING_S = 300
MAX_PENDING = 10_000
"""More than the passwords that can be checked in that time."""


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    user: User
    password_hash: str
    """The one that matched. If the password is changed meanwhile, this sign-in ends."""
    passkey_challenge: bytes = field(default_factory=lambda: secrets.token_bytes(32))


class PendingSignIns:
    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._pending: TTLCache[str, PendingSignIn] = TTLCache(MAX_PENDING, PENDING_S, timer=now)

    def begin(self, sign_in: PendingSignIn) -> str:
        """Returns its token."""
        token = new_token()
        self._pending[hash_token(token)] = sign_in
        return token

    def find(self, token: str) -> PendingSignIn:
        """Raises TokenExpired."""
        sign_in = self._pending.get(hash_token(token))
        if sign_in is None:
            raise _expired()
        return sign_in

    def finish(self, token: str) -> None:
        """Raises TokenExpired if it was finished already: a sign-in opens one session."""
        if self._pending.pop(hash_token(token), None) is None:
            raise _expired()


def _expired() -> TokenExpired:
    return TokenExpired("This sign-in took too long. Begin again with your password.")

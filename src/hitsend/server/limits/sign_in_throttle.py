"""The rate limit of sign-in: how often a password can be tried."""

from hitsend.allowance import MINUTE_S
from hitsend.errors import TooFast
from hitsend.server.limits.request_limits import Key, RequestCounter


class SignInThrottle:
    """Limits password guesses per address, and per address and name.

    Guesses at one name from many addresses are not added up: an attacker could then lock out the
    name's owner. The single thread that hashes all passwords slows those down.
    """

    def __init__(self, tries_per_minute: int) -> None:
        self._tries_per_minute = tries_per_minute
        self._counter = RequestCounter()

    def count_try(self, address: str, name: str = "") -> None:
        """Call it before the password is checked, so that parallel guesses are counted too. Raises
        TooFast."""
        for key in _sign_in_keys(address, name):
            if self._counter.try_count({key: self._tries_per_minute}):
                raise TooFast("Too many tries. Wait a minute.", retry_after_s=MINUTE_S)

    def reset(self, address: str, name: str = "") -> None:
        """After a correct password. Tries at other names still count."""
        for key in _sign_in_keys(address, name):
            self._counter.reset(key)


def _sign_in_keys(address: str, name: str) -> tuple[Key, Key]:
    return ("address", address), (f"name at {address}", name)

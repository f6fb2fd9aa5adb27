"""Slows password guesses down: by account and address together, by address, and by account.

Only failures count. After a number of them the next try has to wait, twice as long after each
further failure; failures are forgotten one by one. Tries that are under way count as failures until
their outcome is known, so parallel guesses gain nothing.

| counted by | free | then pauses of | for |
| --- | --- | --- | --- |
| account and address | 4 failures | 1 s to 15 min | guesses at one person's password |
| address | 49 names that failed (a setting) | 1 s to 15 min | guesses at many names |
| account | 19 failures | 1 s to 1 min | guesses at one password from many addresses |

A success forgets the failures of its account at its address, and nothing else: an attacker gains
nothing by signing in with an account of their own. Someone who signed in lately at an address is
not slowed by the failures of others there, nor by those at their name from elsewhere.

Everything is in memory and bounded. A restart forgets it.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cachetools import TTLCache

from hitsend.errors import TooFast

MAX_TRACKED = 20_000
"""Accounts and addresses, of each kind."""

FORGOTTEN_AFTER_S = 6 * 3600.0
RECENT_SIGN_IN_S = 30 * 86_400.0
SAME_NAME_S = 600.0
"""How long further failures at one name count once for their address."""

BUSY_S = 1.0
"""How soon to try again when tries that are under way take all the room."""


@dataclass(frozen=True, slots=True)
class Rule:
    num_free: int
    max_pause_s: float
    forget_one_s: float
    """The time in which one failure is forgotten."""

    def pause_s(self, num_failures: int) -> float:
        num_pauses = num_failures - self.num_free
        return min(2.0 ** (num_pauses - 1), self.max_pause_s) if num_pauses > 0 else 0.0

    @property
    def max_failures(self) -> int:
        """More would not make the pause longer."""
        return self.num_free + 2 + math.ceil(math.log2(self.max_pause_s))


BY_PAIR = Rule(num_free=4, max_pause_s=900.0, forget_one_s=600.0)
BY_ACCOUNT = Rule(num_free=19, max_pause_s=60.0, forget_one_s=60.0)


def by_address(num_names: int) -> Rule:
    return Rule(num_free=num_names - 1, max_pause_s=900.0, forget_one_s=60.0)


@dataclass(slots=True)
class Tries:
    """The tries of one account, one address, or both together."""

    rule: Rule
    num_failures: int = 0
    forgotten_until: float = 0.0
    """The time up to which failures were forgotten."""
    paused_until: float = 0.0
    num_under_way: int = 0
    failed_names: dict[str, float] = field(default_factory=dict)
    """When each name failed last. Only for an address."""

    def wait_s(self, now: float) -> float:
        if self.paused_until > now:
            return self.paused_until - now
        self._forget(now)
        room = max(self.rule.num_free + 1 - self.num_failures, 1)
        return BUSY_S if self.num_under_way >= room else 0.0

    def count_failure(self, now: float) -> None:
        self._forget(now)
        self.num_failures = min(self.num_failures + 1, self.rule.max_failures)
        self.paused_until = now + self.rule.pause_s(self.num_failures)

    def count_failed_name(self, name: str, now: float) -> None:
        last = self.failed_names.pop(name, -math.inf)
        self.failed_names[name] = now
        if len(self.failed_names) > self.rule.max_failures:
            del self.failed_names[next(iter(self.failed_names))]
        if last <= now - SAME_NAME_S:
            self.count_failure(now)

    def _forget(self, now: float) -> None:
        """Forgets whole failures: five in one second are five, not a little less."""
        since = max(self.forgotten_until, self.paused_until)
        num_forgotten = int(max(now - since, 0.0) / self.rule.forget_one_s)
        if num_forgotten >= self.num_failures:
            self.num_failures, self.forgotten_until = 0, now
        else:
            self.num_failures -= num_forgotten
            self.forgotten_until = since + num_forgotten * self.rule.forget_one_s


class SignInThrottle:
    def __init__(self, num_names: int, *, now: Callable[[], float] = time.monotonic) -> None:
        """`num_names`: how many names may fail from one address before it has to pause."""
        self._now = now
        self._by_address = by_address(num_names)
        self._pairs: TTLCache[tuple[str, str], Tries] = _cache(FORGOTTEN_AFTER_S, now)
        self._addresses: TTLCache[str, Tries] = _cache(FORGOTTEN_AFTER_S, now)
        self._accounts: TTLCache[str, Tries] = _cache(FORGOTTEN_AFTER_S, now)
        self._signed_in: TTLCache[tuple[str, str], bool] = _cache(RECENT_SIGN_IN_S, now)

    def __len__(self) -> int:
        """Number of accounts and addresses tracked."""
        caches = (self._pairs, self._addresses, self._accounts, self._signed_in)
        return sum(len(cache) for cache in caches)

    def begin(self, address: str, account: str | None) -> "Attempt":
        """Reserves a try, before the password is checked. Raises TooFast.

        `account` is a `name_key`, or None for what belongs to no account, such as an invitation.
        """
        now = self._now()
        attempt = Attempt(self, address, account)
        if wait_s := max(tries.wait_s(now) for tries in attempt.checked):
            raise TooFast(
                f"Too many failed tries. Try again in {math.ceil(wait_s)} seconds.",
                retry_after_s=wait_s,
            )
        attempt.reserve()
        return attempt

    def tries_of(self, address: str, account: str | None) -> tuple[Tries, Tries, Tries | None]:
        """Returns those of the pair, the address and the account."""
        pair = address, account or ""
        return (
            _tries(self._pairs, pair, BY_PAIR),
            _tries(self._addresses, address, self._by_address),
            _tries(self._accounts, account, BY_ACCOUNT) if account is not None else None,
        )

    def has_signed_in(self, address: str, account: str | None) -> bool:
        return account is not None and (address, account) in self._signed_in

    def record_sign_in(self, address: str, account: str) -> None:
        self._signed_in[address, account] = True
        self._pairs.pop((address, account), None)

    def now(self) -> float:
        return self._now()


class Attempt:
    """A try whose outcome is open. Leaving the `with` block without one counts as neither."""

    def __init__(self, throttle: SignInThrottle, address: str, account: str | None) -> None:
        self._throttle = throttle
        self._address = address
        self._account = account
        self._pair, self._at_address, self._of_account = throttle.tries_of(address, account)
        others = [self._at_address, *([self._of_account] if self._of_account else [])]
        is_known = throttle.has_signed_in(address, account)
        self.checked: Sequence[Tries] = [self._pair, *([] if is_known else others)]
        self._is_open = False

    def __enter__(self) -> "Attempt":
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def reserve(self) -> None:
        self._is_open = True
        for tries in self.checked:
            tries.num_under_way += 1

    def record_failure(self) -> None:
        self._release()
        now = self._throttle.now()
        self._pair.count_failure(now)
        self._at_address.count_failed_name(self._account or "", now)
        if self._of_account is not None:
            self._of_account.count_failure(now)

    def record_success(self) -> None:
        """Forgets this account's failures at this address, and nothing else: neither other names'
        failures at the address, nor this account's from elsewhere."""
        self._release()
        if self._account is not None:
            self._throttle.record_sign_in(self._address, self._account)

    def _release(self) -> None:
        if self._is_open:
            self._is_open = False
            for tries in self.checked:
                tries.num_under_way -= 1


def _cache(ttl_s: float, now: Callable[[], float]) -> TTLCache[Any, Any]:
    return TTLCache(MAX_TRACKED, ttl_s, timer=now)


def _tries(cache: TTLCache[Any, Tries], key: object, rule: Rule) -> Tries:
    """Also makes it the newest in the cache, and so the last to be dropped."""
    tries = cache.get(key) or Tries(rule)
    cache[key] = tries
    return tries

"""The gate: how much work a browser has to show before it may send, and whether it did.

It shapes the rate of many or careless senders; it is no lock, and knows nothing of what is sent.
Nobody is asked for anything while there is room and they behave, unless the settings say so.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from hitsend.errors import PassExpired, PassInvalid, ProofNeeded
from hitsend.recent import Recent
from hitsend.server import passes
from hitsend.server.proofs import Challenge, Earned, Holder, Redeemed, new_seed
from hitsend.settings import Settings
from hitsend.wire.proof import MAX_BITS, is_solved

SEED_S = 600
"""Enough for the hardest seed on a slow machine."""
CHALLENGE_S = 3600
EARNED_S = 540
RENEWABLE_S = 3600
"""How long what was earned can be kept alive without new work."""

BITS_PER_STEP = 2
SPARE_BITS = 4
"""What is asked may rise by so much before what was earned with less no longer counts: nobody is
to be stopped in the middle of a sentence by a small change."""

LOADS = (0.5, 0.75, 0.9)
"""Shares of the room for turns. Each that is reached is a step."""
SCORES = (10.0, 20.0, 40.0, 80.0)
"""Refusals of late. Each that is reached is a step."""
HALF_LIFE_S = 300.0
MAX_SCORE = 100.0
"""So that a while without refusals is enough, however many there were."""
MAX_SCORES = 1000
"""Of people. Then whoever was not refused for the longest time is forgotten."""

C = TypeVar("C", Challenge, Earned)


class Gate:
    def __init__(
        self,
        settings: Settings,
        secret: bytes,
        load: Callable[[], float],
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`load` is the share of the room for turns that is taken."""
        self._settings = settings
        self._secret = secret
        # What was redeemed is remembered until the process ends, so no challenge may outlive it.
        self._challenge_secret = secrets.token_bytes(32)
        self._load = load
        self._now = now
        self._redeemed = Redeemed()
        self._refusals = Refusals(now)

    def bits(self, holder: Holder) -> int:
        """How much work is asked of them now: 2^bits hashes, or none at 0."""
        mode, bits = self._settings.gate, self._settings.gate_difficulty
        if holder.is_exempt or mode == "off":
            return 0
        score = self._refusals.score(holder.user_id)
        num_steps = _num_reached(LOADS, self._load()) + _num_reached(SCORES, score)
        if mode == "auto":
            if num_steps == 0:
                return 0
            num_steps -= 1
        return min(MAX_BITS, bits + BITS_PER_STEP * num_steps)

    def check(self, holder: Holder, token: str | None) -> None:
        """Raises ProofNeeded where they have to work first, whatever is wrong with their token."""
        if (bits := self.bits(holder)) == 0:
            return
        if not token:
            raise _needed("Some work is asked for before a message is taken.")
        try:
            earned = self._read(self._secret, Earned, holder, token)
        except (PassExpired, PassInvalid) as error:
            raise _needed(error.message) from None
        _check_enough(earned, bits)

    def challenge(self, holder: Holder) -> tuple[str, Challenge]:
        now = self._now()
        challenge = Challenge(
            user_id=holder.user_id,
            device=holder.device,
            bits=self.bits(holder),
            seed=new_seed(),
            seed_until=now + SEED_S,
            expires_at=now + CHALLENGE_S,
        )
        return passes.sign(self._challenge_secret, challenge), challenge

    def exchange(self, holder: Holder, token: str) -> tuple[str, Challenge]:
        """Another challenge, for one whose seed is used up or too old."""
        self._read(self._challenge_secret, Challenge, holder, token)
        return self.challenge(holder)

    def redeem(self, holder: Holder, token: str, answer: str) -> tuple[str, Earned]:
        """What a challenge that was met is good for."""
        challenge = self._read(self._challenge_secret, Challenge, holder, token)
        now = self._now()
        if challenge.bits > 0:
            self._check_met(challenge, answer, now)
            self._redeemed.add(challenge)
        return self._earn(holder, challenge.bits, now)

    def renew(self, holder: Holder, token: str) -> tuple[str, Earned]:
        """The same again for a while, if it is still enough."""
        earned = self._read(self._secret, Earned, holder, token)
        if self._now() >= earned.earned_at + RENEWABLE_S:
            raise PassExpired("This token cannot be renewed any more. Ask for a new one.")
        _check_enough(earned, self.bits(holder))
        return self._earn(holder, earned.bits, earned.earned_at)

    def blame(self, user_id: str) -> None:
        """They were refused something: too fast, or not true."""
        self._refusals.add(user_id)

    def _read(self, secret: bytes, kind: type[C], holder: Holder, token: str) -> C:
        claims = passes.read(secret, kind, token, holder.user_id)
        if claims.device != holder.device:
            raise PassInvalid("This token was given to another browser.")
        return claims

    def _check_met(self, challenge: Challenge, answer: str, now: float) -> None:
        if now >= challenge.seed_until:
            raise PassExpired("This seed has expired. Ask for a new one.")
        self._redeemed.check(challenge, now)
        if not is_solved(challenge.seed, challenge.difficulty, answer):
            self.blame(challenge.user_id)
            raise _needed("The proof does not solve what was asked for.")

    def _earn(self, holder: Holder, bits: int, earned_at: float) -> tuple[str, Earned]:
        earned = Earned(
            user_id=holder.user_id,
            device=holder.device,
            bits=bits,
            earned_at=earned_at,
            expires_at=self._now() + EARNED_S,
        )
        return passes.sign(self._secret, earned), earned


class Refusals:
    """How often each person was refused something of late; half of it is forgotten in a while."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._scores = Recent[str, tuple[float, float]](MAX_SCORES)

    def score(self, user_id: str) -> float:
        score, since = self._scores.get(user_id, (0.0, 0.0))
        age_s = max(0.0, self._now() - since)
        return float(score * 0.5 ** (age_s / HALF_LIFE_S))

    def add(self, user_id: str) -> None:
        score = min(self.score(user_id) + 1, MAX_SCORE)
        self._scores[user_id] = (score, self._now())


def _num_reached(steps: Sequence[float], value: float) -> int:
    return sum(value >= step for step in steps)


def _check_enough(earned: Earned, bits: int) -> None:
    is_little = earned.bits == 0 or earned.bits + SPARE_BITS < bits
    if bits > 0 and is_little:
        raise _needed("More work is asked for now than this token was earned with.")


def _needed(why: str) -> ProofNeeded:
    return ProofNeeded(f"{why} Ask at /backend-api/sentinel/chat-requirements/prepare.")

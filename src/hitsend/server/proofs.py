"""What the gate hands out: a challenge, and what was earned by meeting it. And which challenges
were met already, for none counts twice.

Whether anybody is asked for a proof is the gate's affair; what a proof is, wire/proof.py's.
"""

import secrets
from typing import ClassVar, NamedTuple

from hitsend.errors import PassInvalid, TooFast
from hitsend.server.passes import Claims
from hitsend.wire.proof import difficulty_of

NUM_SEED_BYTES = 16
MAX_REDEEMED = 64
"""Of one person, while their seeds hold."""
SWEEP_S = 60.0


class Holder(NamedTuple):
    """Who works, and where. What is earned in one browser is of no use in another."""

    user_id: str
    device: str
    is_exempt: bool = False


class _Held(Claims, frozen=True, kw_only=True):
    device: str
    bits: int


class Challenge(_Held, frozen=True, kw_only=True):
    """Its seed holds for a shorter time than it does itself: it can be exchanged for a new one."""

    kind: ClassVar[str] = "gate-challenge"

    seed: str
    seed_until: float

    @property
    def difficulty(self) -> str:
        return difficulty_of(self.bits)


class Earned(_Held, frozen=True, kw_only=True):
    kind: ClassVar[str] = "gate-earned"

    earned_at: float


def new_seed() -> str:
    return secrets.token_hex(NUM_SEED_BYTES)


class Redeemed:
    """Seeds that were used, for as long as they could be used again."""

    def __init__(self) -> None:
        self._seeds: dict[str, dict[str, float]] = {}
        self._swept_at = 0.0

    def check(self, challenge: Challenge, now: float) -> None:
        self._sweep(now)
        used = _holding(self._seeds.get(challenge.user_id, {}), now)
        if challenge.seed in used:
            raise PassInvalid("This proof was used already. Ask for a new one.")
        if len(used) >= MAX_REDEEMED:
            wait_s = min(used.values()) - now
            raise TooFast("Too many proofs. Use the token you have.", retry_after_s=wait_s)

    def add(self, challenge: Challenge) -> None:
        seeds = self._seeds.setdefault(challenge.user_id, {})
        seeds[challenge.seed] = challenge.seed_until

    def _sweep(self, now: float) -> None:
        if now - self._swept_at < SWEEP_S:
            return
        self._swept_at = now
        held = {owner: _holding(seeds, now) for owner, seeds in self._seeds.items()}
        self._seeds = {owner: seeds for owner, seeds in held.items() if seeds}


def _holding(seeds: dict[str, float], now: float) -> dict[str, float]:
    return {seed: until for seed, until in seeds.items() if until > now}

"""The proof-of-work gate: how much work a browser has to do before it may send.

It slows down bulk senders; it is not access control, and it never sees what is sent. Unless the
settings say otherwise, it asks for nothing while the server has room and the user is not refused
often. The proof itself is in `wire/proof_of_work.py`.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, TypeVar

from cachetools import LRUCache

from hitsend.errors import ProofNeeded, TokenExpired, TokenInvalid, TooFast
from hitsend.server.auth import signed_tokens
from hitsend.server.auth.signed_tokens import Claims
from hitsend.settings import Settings
from hitsend.wire.proof_of_work import MAX_BITS, difficulty_for_bits, is_solved

SEED_S = 600
"""Enough for the hardest puzzle on a slow machine."""
CHALLENGE_S = 3600
PROOF_TOKEN_S = 540
RENEWABLE_S = 3600
"""How long a proof token can be renewed without new work."""

BITS_PER_STEP = 2
SPARE_BITS = 4
"""A token counts until the difficulty has risen by more than this since its proof. Otherwise a
small rise would interrupt people who already did the work."""

LOADS = (0.5, 0.75, 0.9)
"""Shares of a person's own room in use. Each one reached adds a step for that person."""
TOTAL_LOADS = (0.9, 0.97)
"""Shares of all room in use. Each one reached adds a step for everyone. One person fills half at
most, and nine people nine tenths, so that nobody alone makes others work."""
SCORES = (10.0, 20.0, 40.0, 80.0)
"""Refusal scores. Each one reached adds a step."""
HALF_LIFE_S = 300.0
MAX_SCORE = 100.0
"""Caps the score, so that any user is back to normal some minutes after the last refusal."""
MAX_SCORES = 1000
"""Users tracked. The one whose last refusal is oldest is evicted."""

NUM_SEED_BYTES = 16
MAX_USED_SEEDS = 64
"""Per user, among seeds that have not expired."""
SWEEP_S = 60.0

C = TypeVar("C", "Challenge", "ProofToken")


class GateClient(NamedTuple):
    """A user in one browser. Work done in one browser does not count in another."""

    user_id: str
    device: str
    is_exempt: bool = False


class Challenge(Claims, frozen=True, kw_only=True):
    """The seed expires before the challenge does: the challenge can be exchanged for a new one."""

    kind: ClassVar[str] = "gate-challenge"

    device: str
    bits: int
    seed: str
    seed_until: float

    @property
    def difficulty(self) -> str:
        return difficulty_for_bits(self.bits)


class ProofToken(Claims, frozen=True, kw_only=True):
    """Proves that its browser has solved a challenge."""

    kind: ClassVar[str] = "gate-earned"

    device: str
    bits: int
    earned_at: float


class Gate:
    def __init__(
        self,
        settings: Settings,
        secret: bytes,
        load: Callable[[], float],
        load_of: Callable[[str], float],
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`load` returns the share of all room for turns in use, and `load_of` that of the room
        which a person may use."""
        self._settings = settings
        self._secret = secret
        # Used seeds are only kept in memory, so a challenge must not outlive the process.
        self._challenge_secret = secrets.token_bytes(32)
        self._load = load
        self._load_of = load_of
        self._now = now
        self._used_seeds = UsedSeeds()
        self._refusals = RefusalScores(now)

    def bits(self, client: GateClient) -> int:
        """The current difficulty for this client: about 2^bits hashes, or no work at 0."""
        mode, bits = self._settings.gate, self._settings.gate_difficulty
        if client.is_exempt or mode == "off":
            return 0
        score = self._refusals.score(client.user_id)
        num_steps = (
            _num_reached(LOADS, self._load_of(client.user_id))
            + _num_reached(TOTAL_LOADS, self._load())
            + _num_reached(SCORES, score)
        )
        if mode == "auto":
            if num_steps == 0:
                return 0
            num_steps -= 1
        return min(MAX_BITS, bits + BITS_PER_STEP * num_steps)

    def check(self, client: GateClient, token: str | None) -> None:
        """Raises ProofNeeded if the client has to work first, whatever is wrong with its token."""
        if (bits := self.bits(client)) == 0:
            return
        if not token:
            raise _proof_needed("Some work is asked for before a message is taken.")
        try:
            proof = self._verify(self._secret, ProofToken, client, token)
        except (TokenExpired, TokenInvalid) as error:
            raise _proof_needed(error.message) from None
        _check_bits(proof, bits)

    def issue_challenge(self, client: GateClient) -> tuple[str, Challenge]:
        now = self._now()
        challenge = Challenge(
            user_id=client.user_id,
            device=client.device,
            bits=self.bits(client),
            seed=secrets.token_hex(NUM_SEED_BYTES),
            seed_until=now + SEED_S,
            expires_at=now + CHALLENGE_S,
        )
        return signed_tokens.sign(self._challenge_secret, challenge), challenge

    def exchange(self, client: GateClient, token: str) -> tuple[str, Challenge]:
        """Issues a new challenge for one whose seed was used or has expired."""
        self._verify(self._challenge_secret, Challenge, client, token)
        return self.issue_challenge(client)

    def redeem(self, client: GateClient, token: str, answer: str) -> tuple[str, ProofToken]:
        """Issues a proof token for a solved challenge."""
        challenge = self._verify(self._challenge_secret, Challenge, client, token)
        now = self._now()
        if challenge.bits > 0:
            self._check_answer(challenge, answer, now)
            self._used_seeds.add(challenge)
        return self._issue_proof(client, challenge.bits, now)

    def renew(self, client: GateClient, token: str) -> tuple[str, ProofToken]:
        """Extends a proof token that still meets the current difficulty."""
        proof = self._verify(self._secret, ProofToken, client, token)
        if self._now() >= proof.earned_at + RENEWABLE_S:
            raise TokenExpired("This token cannot be renewed any more. Ask for a new one.")
        _check_bits(proof, self.bits(client))
        return self._issue_proof(client, proof.bits, proof.earned_at)

    def record_refusal(self, user_id: str) -> None:
        self._refusals.add(user_id)

    def _verify(self, secret: bytes, kind: type[C], client: GateClient, token: str) -> C:
        claims = signed_tokens.verify(secret, kind, token, client.user_id)
        if claims.device != client.device:
            raise TokenInvalid("This token was given to another browser.")
        return claims

    def _check_answer(self, challenge: Challenge, answer: str, now: float) -> None:
        if now >= challenge.seed_until:
            raise TokenExpired("This seed has expired. Ask for a new one.")
        self._used_seeds.check(challenge, now)
        if not is_solved(challenge.seed, challenge.difficulty, answer):
            self.record_refusal(challenge.user_id)
            raise _proof_needed("The proof does not solve what was asked for.")

    def _issue_proof(
        self, client: GateClient, bits: int, earned_at: float
    ) -> tuple[str, ProofToken]:
        proof = ProofToken(
            user_id=client.user_id,
            device=client.device,
            bits=bits,
            earned_at=earned_at,
            expires_at=self._now() + PROOF_TOKEN_S,
        )
        return signed_tokens.sign(self._secret, proof), proof


class UsedSeeds:
    """Seeds that were redeemed, each until it expires, so that none counts twice."""

    def __init__(self) -> None:
        self._seeds: dict[str, dict[str, float]] = {}
        self._swept_at = 0.0

    def check(self, challenge: Challenge, now: float) -> None:
        self._sweep(now)
        used = _unexpired(self._seeds.get(challenge.user_id, {}), now)
        if challenge.seed in used:
            raise TokenInvalid("This proof was used already. Ask for a new one.")
        if len(used) >= MAX_USED_SEEDS:
            wait_s = min(used.values()) - now
            raise TooFast("Too many proofs. Use the token you have.", retry_after_s=wait_s)

    def add(self, challenge: Challenge) -> None:
        seeds = self._seeds.setdefault(challenge.user_id, {})
        seeds[challenge.seed] = challenge.seed_until

    def _sweep(self, now: float) -> None:
        if now - self._swept_at < SWEEP_S:
            return
        self._swept_at = now
        kept = {user_id: _unexpired(seeds, now) for user_id, seeds in self._seeds.items()}
        self._seeds = {user_id: seeds for user_id, seeds in kept.items() if seeds}


class RefusalScores:
    """How often each user was refused lately: a count that decays by half every five minutes."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._scores = LRUCache[str, tuple[float, float]](MAX_SCORES)

    def score(self, user_id: str) -> float:
        score, since = self._scores.get(user_id, (0.0, 0.0))
        age_s = max(0.0, self._now() - since)
        return float(score * 0.5 ** (age_s / HALF_LIFE_S))

    def add(self, user_id: str) -> None:
        score = min(self.score(user_id) + 1, MAX_SCORE)
        self._scores[user_id] = (score, self._now())


def _unexpired(seeds: dict[str, float], now: float) -> dict[str, float]:
    return {seed: until for seed, until in seeds.items() if until > now}


def _num_reached(steps: Sequence[float], value: float) -> int:
    return sum(value >= step for step in steps)


def _check_bits(proof: ProofToken, bits: int) -> None:
    is_too_easy = proof.bits == 0 or proof.bits + SPARE_BITS < bits
    if bits > 0 and is_too_easy:
        raise _proof_needed("More work is asked for now than this token was earned with.")


def _proof_needed(why: str) -> ProofNeeded:
    return ProofNeeded(f"{why} Ask at /backend-api/sentinel/chat-requirements/prepare.")

"""The proof-of-work gate: who needs a proof, how it is redeemed, and attempts to bypass it."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import httpx2
import msgspec
import pytest
from tests.server.world import Someone, World, message

from hitsend.engine import ScriptedEngine
from hitsend.errors import ProofNeeded, TokenExpired, TokenInvalid, TooFast
from hitsend.server.app import open_app
from hitsend.server.auth.signed_tokens import sign
from hitsend.server.limits.gate import (
    HALF_LIFE_S,
    MAX_SCORES,
    MAX_USED_SEEDS,
    PROOF_TOKEN_S,
    RENEWABLE_S,
    SEED_S,
    Challenge,
    Gate,
    GateClient,
    ProofToken,
)
from hitsend.server.routes.telemetry import REPORTS_PER_MINUTE
from hitsend.server.serve import listen
from hitsend.settings import Settings
from hitsend.store import Limit
from hitsend.wire.proof_of_work import difficulty_for_bits, is_solved, solve

TOKEN = "hitsend-sentinel-token"
BITS = 10
ADA = GateClient("ada", "laptop")
SENTINEL = "/backend-api/sentinel"


@pytest.fixture
async def guarded(settings: Settings) -> AsyncGenerator[World]:
    """A world in which every browser needs a proof."""
    strict = msgspec.structs.replace(settings, gate="always", gate_difficulty=BITS)
    async with AsyncExitStack() as stack:
        yield await open_gated_world(stack, strict)


async def open_gated_world(stack: AsyncExitStack, settings: Settings) -> World:
    app = await stack.enter_async_context(open_app(settings, ScriptedEngine()))
    url = await stack.enter_async_context(listen(app))
    return World(app, url, await stack.enter_async_context(AsyncExitStack()))


async def get_challenge(someone: Someone) -> dict[str, Any]:
    answer = await someone.http.post(
        f"{SENTINEL}/chat-requirements/prepare", json={"p": "hs1.Wzdd"}
    )
    assert answer.status_code == 200, answer.text
    requirements: dict[str, Any] = answer.json()
    return requirements


def solve_challenge(requirements: dict[str, Any]) -> dict[str, str]:
    """Returns the solution of a challenge."""
    work = requirements["proofofwork"]
    answer = solve(work["seed"], work["difficulty"], "test")
    return {"prepare_token": requirements["prepare_token"], "proofofwork": answer}


async def redeem(someone: Someone, proof: dict[str, str]) -> httpx2.Response:
    return await someone.http.post(f"{SENTINEL}/chat-requirements/finalize", json=proof)


async def earn_proof_token(someone: Someone) -> str:
    shown = await redeem(someone, solve_challenge(await get_challenge(someone)))
    assert shown.status_code == 200, shown.text
    return str(shown.json()["token"])


async def send(someone: Someone, token: str | None = None) -> httpx2.Response:
    headers = {} if token is None else {TOKEN: token}
    return await someone.http.post(
        "/backend-api/f/conversation", json=message("!script\nhello"), headers=headers
    )


def check_refused(answer: httpx2.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


async def test_by_default_no_proof_is_asked_for(world: World) -> None:
    ada = await world.someone("ada")
    requirements = await get_challenge(ada)
    assert requirements["proofofwork"]["required"] is False
    assert requirements["turnstile"] == {"required": False}
    shown = await redeem(ada, {"prepare_token": requirements["prepare_token"]})
    assert shown.json()["expire_after"] == PROOF_TOKEN_S
    assert (await send(ada)).status_code == 200


async def test_a_proof_token_can_be_used_for_many_sends(guarded: World) -> None:
    ada = await guarded.someone("ada")
    check_refused(await send(ada), 403, "proof_of_work_required")
    requirements = await get_challenge(ada)
    assert requirements["proofofwork"]["required"] is True
    assert requirements["proofofwork"]["difficulty"] == difficulty_for_bits(BITS)
    assert len(bytes.fromhex(requirements["proofofwork"]["seed"])) == 16
    earned = (await redeem(ada, solve_challenge(requirements))).json()
    assert earned["expire_after"] == PROOF_TOKEN_S
    assert abs(earned["expire_at"] - time.time() - PROOF_TOKEN_S) < 5
    for _ in range(3):
        assert (await send(ada, earned["token"])).status_code == 200


async def test_a_proof_token_is_taken_under_its_public_name_too(guarded: World) -> None:
    ada = await guarded.someone("ada")
    headers = {"openai-sentinel-chat-requirements-token": await earn_proof_token(ada)}
    body = message("!script\nhello")
    response = await ada.http.post("/backend-api/f/conversation", json=body, headers=headers)
    assert response.status_code == 200
    renewed = await ada.http.post(f"{SENTINEL}/ping", headers=headers)
    assert (await send(ada, renewed.json()["token"])).status_code == 200


async def test_a_message_that_was_refused_is_not_stored(guarded: World) -> None:
    ada = await guarded.someone("ada")
    await send(ada)
    assert (await ada.http.get("/backend-api/conversations")).json()["items"] == []


async def test_an_api_key_needs_no_proof(guarded: World) -> None:
    ada = await guarded.someone("ada")
    ada.http.cookies.clear()
    ada.http.headers["authorization"] = f"Bearer {ada.key}"
    assert (await get_challenge(ada))["proofofwork"]["required"] is False
    assert (await send(ada)).status_code == 200


async def test_a_wrong_answer_earns_nothing_and_the_right_one_still_does(guarded: World) -> None:
    ada = await guarded.someone("ada")
    proof = solve_challenge(await get_challenge(ada))
    for wrong in ("", "hs1.", "hs1.WzFd", proof["proofofwork"].removeprefix("hs1.")):
        shown = await redeem(ada, proof | {"proofofwork": wrong})
        check_refused(shown, 403, "proof_of_work_required")
    del (nothing := dict(proof))["proofofwork"]
    check_refused(await redeem(ada, nothing), 403, "proof_of_work_required")
    assert (await redeem(ada, proof)).status_code == 200


async def test_a_solution_below_the_difficulty_is_refused(guarded: World) -> None:
    ada = await guarded.someone("ada")
    requirements = await get_challenge(ada)
    seed = requirements["proofofwork"]["seed"]
    easier = (solve(seed, difficulty_for_bits(BITS - 4), str(nonce)) for nonce in count())
    less = next(each for each in easier if not is_solved(seed, difficulty_for_bits(BITS), each))
    shown = await redeem(ada, solve_challenge(requirements) | {"proofofwork": less})
    check_refused(shown, 403, "proof_of_work_required")


async def test_a_proof_is_redeemed_once_even_in_parallel(guarded: World) -> None:
    ada = await guarded.someone("ada")
    proof = solve_challenge(await get_challenge(ada))
    shown = await asyncio.gather(*(redeem(ada, proof) for _ in range(20)))
    assert sorted(each.status_code for each in shown) == [200] + [401] * 19
    check_refused(await redeem(ada, proof), 401, "token_invalid")


async def test_a_token_of_another_user_is_refused(guarded: World) -> None:
    ada, eve = await guarded.someone("ada"), await guarded.someone("eve")
    proof = solve_challenge(await get_challenge(ada))
    check_refused(await redeem(eve, proof), 401, "token_invalid")
    token = (await redeem(ada, proof)).json()["token"]
    check_refused(await send(eve, token), 403, "proof_of_work_required")
    pinged = await eve.http.post(f"{SENTINEL}/ping", headers={TOKEN: token})
    check_refused(pinged, 401, "token_invalid")
    exchanged = await eve.http.post(
        f"{SENTINEL}/req", json={"prepare_token": proof["prepare_token"]}
    )
    check_refused(exchanged, 401, "token_invalid")


async def test_a_token_of_another_browser_is_refused(guarded: World) -> None:
    ada = await guarded.someone("ada")
    ada.http.headers["oai-device-id"] = "laptop"
    proof = solve_challenge(await get_challenge(ada))
    ada.http.headers["oai-device-id"] = "phone"
    check_refused(await redeem(ada, proof), 401, "token_invalid")
    ada.http.headers["oai-device-id"] = "laptop"
    token = (await redeem(ada, proof)).json()["token"]
    assert (await send(ada, token)).status_code == 200
    ada.http.headers["oai-device-id"] = "phone"
    check_refused(await send(ada, token), 403, "proof_of_work_required")


async def test_a_malformed_device_id_is_ignored(guarded: World) -> None:
    ada = await guarded.someone("ada")
    token = await earn_proof_token(ada)
    for strange in ("", "x" * 65, "a b", "a\tb"):
        ada.http.headers["oai-device-id"] = strange
        assert (await send(ada, token)).status_code == 200


async def test_forged_tokens_and_those_of_another_kind_are_refused(guarded: World) -> None:
    ada = await guarded.someone("ada")
    proof = solve_challenge(await get_challenge(ada))
    token = await earn_proof_token(ada)
    for forged in ("", ".", "x" * 5000, token[:-2], proof["prepare_token"]):
        check_refused(await send(ada, forged), 403, "proof_of_work_required")
    for forged in ("", ".", "é", "a.b", proof["prepare_token"][:-2], token):
        check_refused(await redeem(ada, proof | {"prepare_token": forged}), 401, "token_invalid")
    check_refused(await ada.http.post(f"{SENTINEL}/ping"), 401, "token_invalid")


async def test_bodies_are_bounded(guarded: World) -> None:
    ada = await guarded.someone("ada")
    prepare, finalize = (f"{SENTINEL}/chat-requirements/{name}" for name in ("prepare", "finalize"))
    assert (await ada.http.post(prepare, json={"p": "x" * 10_000})).status_code == 413
    assert (await ada.http.post(prepare, json={"p": "x" * 300})).status_code == 400
    assert (await ada.http.post(prepare, json={"screen": 4000})).status_code == 400
    assert (await ada.http.post(finalize, json={"prepare_token": 1})).status_code == 400


async def test_an_expired_token_is_refused_and_says_so(guarded: World) -> None:
    ada = await guarded.someone("ada")
    expired = get_proof_token(ada.user_id, guarded.app.secret, held_s=-1)
    refused = await send(ada, expired)
    check_refused(refused, 403, "proof_of_work_required")
    assert "expired" in refused.json()["detail"]
    pinged = await ada.http.post(f"{SENTINEL}/ping", headers={TOKEN: expired})
    check_refused(pinged, 401, "token_expired")


async def test_the_csrf_secret_signs_no_other_token(guarded: World) -> None:
    ada = await guarded.someone("ada")
    signed = get_proof_token(ada.user_id, guarded.app.csrf_secret, held_s=60)
    check_refused(await send(ada, signed), 403, "proof_of_work_required")


async def test_a_token_is_kept_alive_for_an_hour(guarded: World) -> None:
    ada = await guarded.someone("ada")
    old = get_proof_token(ada.user_id, guarded.app.secret, held_s=10)
    renewed = await ada.http.post(f"{SENTINEL}/ping", headers={TOKEN: old})
    assert renewed.json()["expire_after"] == PROOF_TOKEN_S
    assert (await send(ada, renewed.json()["token"])).status_code == 200
    too_old = get_proof_token(ada.user_id, guarded.app.secret, held_s=10, age_s=RENEWABLE_S)
    refused = await ada.http.post(f"{SENTINEL}/ping", headers={TOKEN: too_old})
    check_refused(refused, 401, "token_expired")


def get_proof_token(user_id: str, secret: bytes, held_s: float, age_s: float = 500.0) -> str:
    now = time.time()
    return sign(
        secret,
        ProofToken(
            user_id=user_id,
            device="-",
            bits=BITS,
            earned_at=now - age_s,
            expires_at=now + held_s,
        ),
    )


async def test_a_used_seed_is_exchanged_for_a_fresh_one(guarded: World) -> None:
    ada = await guarded.someone("ada")
    requirements = await get_challenge(ada)
    await redeem(ada, solve_challenge(requirements))
    exchanged = await ada.http.post(
        f"{SENTINEL}/req",
        json={"prepare_token": requirements["prepare_token"], "flow": "conversation"},
    )
    assert exchanged.json()["proofofwork"]["seed"] != requirements["proofofwork"]["seed"]
    assert (await redeem(ada, solve_challenge(exchanged.json()))).status_code == 200


async def test_only_who_fills_their_own_room_needs_a_proof(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        world = await open_gated_world(stack, msgspec.structs.replace(settings, max_turns=8))
        ada, eve = await world.someone("ada"), await world.someone("eve")
        slow = "!script tokens=100000 pace=5ms"
        streams = [await ada.send(slow, until_chars=10) for _ in range(3)]
        check_refused(await send(ada), 403, "proof_of_work_required")
        assert (await send(ada, await earn_proof_token(ada))).status_code == 200
        assert (await send(eve)).status_code == 200
        for stream in streams:
            stop = {"conversation_id": stream.conversation_id}
            await ada.http.post("/backend-api/stop_conversation", json=stop)
        assert (await send(ada)).status_code == 200


async def test_a_key_that_takes_all_it_can_get_makes_nobody_else_prove_anything(
    settings: Settings,
) -> None:
    async with AsyncExitStack() as stack:
        world = await open_gated_world(stack, msgspec.structs.replace(settings, max_turns=12))
        hog, eve = await world.someone("hog"), await world.someone("eve")
        http = await world.browser()
        http.headers["authorization"] = f"Bearer {hog.key}"
        program = Someone(http, "hog", hog.user_id, hog.key)
        for _ in range(4):
            await program.send("!script tokens=100000 pace=5ms", until_chars=1)
        check_refused(await send(program), 429, "rate_limit_exceeded")
        assert (await send(eve)).status_code == 200


async def test_a_user_refused_often_needs_a_proof(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    for _ in range(11):
        await redeem(eve, {"prepare_token": "forged"})
    assert (await get_challenge(eve))["proofofwork"]["required"] is True
    check_refused(await send(eve), 403, "proof_of_work_required")
    assert (await send(eve, await earn_proof_token(eve))).status_code == 200
    assert (await get_challenge(ada))["proofofwork"]["required"] is False


async def test_only_refused_sends_resumes_and_proofs_count(world: World) -> None:
    ada, store = await world.someone("ada"), world.app.services.store
    for _ in range(11):
        assert (await ada.http.get("/backend-api/people")).status_code == 403
    for _ in range(REPORTS_PER_MINUTE + 11):
        reported = await ada.http.post("/backend-api/lat/r", json={})
    assert reported.status_code == 429
    await store.limits.set("user", ada.user_id, Limit(tokens_per_day=0))
    for _ in range(11):
        check_refused(await send(ada), 429, "quota_exceeded")
    assert (await get_challenge(ada))["proofofwork"]["required"] is False
    await store.limits.set("user", ada.user_id, Limit(requests_per_minute=0))
    for _ in range(11):
        await send(ada)
    assert (await get_challenge(ada))["proofofwork"]["required"] is True


@pytest.mark.parametrize("limit", [Limit(requests_per_minute=0), Limit(tokens_per_minute=0)])
async def test_refusals_of_a_shared_address_do_not_count(world: World, limit: Limit) -> None:
    ada, store = await world.someone("ada"), world.app.services.store
    await store.limits.set("address", "", limit)
    for _ in range(11):
        check_refused(await send(ada), 429, "rate_limit_exceeded")
    assert (await get_challenge(ada))["proofofwork"]["required"] is False


async def test_a_forged_resume_token_counts_as_a_refusal(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    body = {"conversation_id": stream.conversation_id}
    forged = {"x-conduit-token": "forged"}
    for _ in range(11):
        resumed = await ada.http.post(
            "/backend-api/f/conversation/resume", json=body, headers=forged
        )
        check_refused(resumed, 401, "token_invalid")
    assert (await get_challenge(ada))["proofofwork"]["required"] is True


class Surroundings:
    """The load and the time that a gate sees, which a test can change."""

    def __init__(self, mode: Any = "auto", bits: int = 12) -> None:
        self.load = 0.0
        self.own_load = 0.0
        self.ahead_s = 0.0
        settings = Settings(gate=mode, gate_difficulty=bits)
        self.gate = Gate(
            settings, b"secret", lambda: self.load, lambda _: self.own_load, now=self._now
        )

    def _now(self) -> float:
        return time.time() + self.ahead_s

    def solve_and_redeem(self) -> str:
        token, challenge = self.gate.issue_challenge(ADA)
        answer = solve(challenge.seed, challenge.difficulty, "test")
        return self.gate.redeem(ADA, token, answer)[0]


@pytest.mark.parametrize(
    ("load", "bits"), [(0.0, 0), (0.49, 0), (0.5, 12), (0.75, 14), (0.9, 16), (1.0, 16)]
)
def test_their_own_load_raises_the_difficulty_for_a_person(load: float, bits: int) -> None:
    around = Surroundings()
    around.own_load = load
    assert around.gate.bits(ADA) == bits


@pytest.mark.parametrize(("load", "bits"), [(0.5, 0), (0.89, 0), (0.9, 12), (0.97, 14), (1.0, 14)])
def test_the_load_of_all_counts_only_near_the_end_of_the_room(load: float, bits: int) -> None:
    around = Surroundings()
    around.load = load
    assert around.gate.bits(ADA) == bits


def test_the_modes_off_and_always_ignore_the_load() -> None:
    off, always = Surroundings("off"), Surroundings("always")
    assert always.gate.bits(ADA) == 12
    off.own_load = always.own_load = 1.0
    assert off.gate.bits(ADA) == 0
    assert always.gate.bits(ADA) == 18


def test_the_difficulty_has_a_maximum() -> None:
    around = Surroundings("always", bits=20)
    around.load = around.own_load = 1.0
    for _ in range(200):
        around.gate.record_refusal("ada")
    assert around.gate.bits(ADA) == 24


def test_refusals_decay() -> None:
    around = Surroundings()
    for _ in range(16):
        around.gate.record_refusal("ada")
    assert around.gate.bits(ADA) == 12
    assert around.gate.bits(GateClient("eve", "laptop")) == 0
    around.ahead_s = HALF_LIFE_S
    assert around.gate.bits(ADA) == 0


def test_a_token_survives_a_small_rise_of_the_difficulty_but_not_a_large_one() -> None:
    around = Surroundings("always", bits=4)
    token = around.solve_and_redeem()
    around.own_load = 0.75
    assert around.gate.bits(ADA) == 8
    around.gate.check(ADA, token)
    around.gate.renew(ADA, token)
    around.own_load = 0.9
    assert around.gate.bits(ADA) == 10
    for again in (around.gate.check, around.gate.renew):
        with pytest.raises(ProofNeeded, match="More work"):
            again(ADA, token)
    around.gate.check(ADA, around.solve_and_redeem())


def test_a_token_without_work_is_refused_once_work_is_needed() -> None:
    around = Surroundings(bits=4)
    token = around.solve_and_redeem()
    around.gate.renew(ADA, token)
    around.own_load = 0.5
    assert around.gate.bits(ADA) == 4
    for again in (around.gate.check, around.gate.renew):
        with pytest.raises(ProofNeeded, match="More work"):
            again(ADA, token)


def test_the_refusal_score_is_capped() -> None:
    around = Surroundings()
    for _ in range(10_000):
        around.gate.record_refusal("ada")
    assert around.gate.bits(ADA) > 12
    around.ahead_s = 4 * HALF_LIFE_S
    assert around.gate.bits(ADA) == 0


def test_the_user_with_the_oldest_refusal_is_evicted_first() -> None:
    around = Surroundings()
    for _ in range(16):
        around.gate.record_refusal("ada")
        around.gate.record_refusal("eve")
    around.gate.record_refusal("ada")
    for number in range(MAX_SCORES - 1):
        around.gate.record_refusal(f"somebody {number}")
    assert around.gate.bits(ADA) == 12
    assert around.gate.bits(GateClient("eve", "laptop")) == 0


def test_a_seed_expires_before_its_challenge() -> None:
    around = Surroundings("always", bits=4)
    token, challenge = around.gate.issue_challenge(ADA)
    answer = solve(challenge.seed, challenge.difficulty, "test")
    around.ahead_s = SEED_S
    with pytest.raises(TokenExpired, match="seed"):
        around.gate.redeem(ADA, token, answer)
    fresh, challenge = around.gate.exchange(ADA, token)
    around.gate.redeem(ADA, fresh, solve(challenge.seed, challenge.difficulty, "test"))
    around.ahead_s = -2 * 3600
    old, _ = around.gate.issue_challenge(ADA)
    with pytest.raises(TokenExpired):
        around.gate.exchange(ADA, old)


def test_no_challenge_outlives_the_process_that_issued_it() -> None:
    before, after = Surroundings("always", bits=4), Surroundings("always", bits=4)
    token, challenge = before.gate.issue_challenge(ADA)
    answer = solve(challenge.seed, challenge.difficulty, "test")
    with pytest.raises(TokenInvalid):
        after.gate.redeem(ADA, token, answer)
    after.gate.check(ADA, before.solve_and_redeem())


def test_redeemed_proofs_are_limited_per_user() -> None:
    around = Surroundings("always", bits=1)
    for _ in range(MAX_USED_SEEDS):
        around.solve_and_redeem()
    with pytest.raises(TooFast):
        around.solve_and_redeem()
    eve = GateClient("eve", "laptop")
    token, challenge = around.gate.issue_challenge(eve)
    around.gate.redeem(eve, token, solve(challenge.seed, challenge.difficulty, "test"))
    around.ahead_s = SEED_S
    around.solve_and_redeem()


def test_a_challenge_signed_with_the_general_secret_is_refused() -> None:
    around = Surroundings("always")
    challenge = Challenge(
        user_id="ada",
        device="laptop",
        bits=0,
        seed="",
        seed_until=time.time() + 60,
        expires_at=time.time() + 60,
    )
    with pytest.raises(TokenInvalid):
        around.gate.redeem(ADA, sign(b"secret", challenge), "")

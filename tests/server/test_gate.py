"""The gate: who has to work before they may send, how it is done, and every way around it."""

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
from hitsend.errors import PassExpired, PassInvalid, ProofNeeded, TooFast
from hitsend.server.app import open_house
from hitsend.server.gate import EARNED_S, HALF_LIFE_S, MAX_SCORES, RENEWABLE_S, SEED_S, Gate
from hitsend.server.passes import sign
from hitsend.server.proofs import MAX_REDEEMED, Challenge, Earned, Holder
from hitsend.server.routes.telemetry import REPORTS_A_MINUTE
from hitsend.server.serving import listening
from hitsend.settings import Settings
from hitsend.store import Limit
from hitsend.wire.proof import difficulty_of, is_solved, solve

TOKEN = "hitsend-sentinel-token"
BITS = 10
ADA = Holder("ada", "laptop")
SENTINEL = "/backend-api/sentinel"


@pytest.fixture
async def guarded(settings: Settings) -> AsyncGenerator[World]:
    """A world where everybody has to work."""
    strict = msgspec.structs.replace(settings, gate="always", gate_difficulty=BITS)
    async with AsyncExitStack() as stack:
        yield await opened(stack, strict)


async def opened(stack: AsyncExitStack, settings: Settings) -> World:
    house = await stack.enter_async_context(open_house(settings, ScriptedEngine()))
    url = await stack.enter_async_context(listening(house))
    return World(house, url, await stack.enter_async_context(AsyncExitStack()))


async def asked(someone: Someone) -> dict[str, Any]:
    answer = await someone.http.post(
        f"{SENTINEL}/chat-requirements/prepare", json={"p": "hs1.Wzdd"}
    )
    assert answer.status_code == 200, answer.text
    requirements: dict[str, Any] = answer.json()
    return requirements


def solved(requirements: dict[str, Any]) -> dict[str, str]:
    """What is to be shown for it."""
    work = requirements["proofofwork"]
    answer = solve(work["seed"], work["difficulty"], "test")
    return {"prepare_token": requirements["prepare_token"], "proofofwork": answer}


async def show(someone: Someone, proof: dict[str, str]) -> httpx2.Response:
    return await someone.http.post(f"{SENTINEL}/chat-requirements/finalize", json=proof)


async def work(someone: Someone) -> str:
    shown = await show(someone, solved(await asked(someone)))
    assert shown.status_code == 200, shown.text
    return str(shown.json()["token"])


async def send(someone: Someone, token: str | None = None) -> httpx2.Response:
    headers = {} if token is None else {TOKEN: token}
    return await someone.http.post(
        "/backend-api/f/conversation", json=message("!script\nhello"), headers=headers
    )


def check_refused(answer: httpx2.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


async def test_by_default_nobody_is_asked_for_anything(world: World) -> None:
    ada = await world.someone("ada")
    requirements = await asked(ada)
    assert requirements["proofofwork"]["required"] is False
    assert requirements["turnstile"] == {"required": False}
    shown = await show(ada, {"prepare_token": requirements["prepare_token"]})
    assert shown.json()["expire_after"] == EARNED_S
    assert (await send(ada)).status_code == 200


async def test_who_did_the_work_may_send_again_and_again(guarded: World) -> None:
    ada = await guarded.someone("ada")
    check_refused(await send(ada), 403, "proof_of_work_required")
    requirements = await asked(ada)
    assert requirements["proofofwork"]["required"] is True
    assert requirements["proofofwork"]["difficulty"] == difficulty_of(BITS)
    assert len(bytes.fromhex(requirements["proofofwork"]["seed"])) == 16
    earned = (await show(ada, solved(requirements))).json()
    assert earned["expire_after"] == EARNED_S
    assert abs(earned["expire_at"] - time.time() - EARNED_S) < 5
    for _ in range(3):
        assert (await send(ada, earned["token"])).status_code == 200


async def test_a_message_that_was_refused_is_not_stored(guarded: World) -> None:
    ada = await guarded.someone("ada")
    await send(ada)
    assert (await ada.http.get("/backend-api/conversations")).json()["items"] == []


async def test_a_program_with_a_key_is_never_asked(guarded: World) -> None:
    ada = await guarded.someone("ada")
    ada.http.cookies.clear()
    ada.http.headers["authorization"] = f"Bearer {ada.key}"
    assert (await asked(ada))["proofofwork"]["required"] is False
    assert (await send(ada)).status_code == 200


async def test_a_wrong_answer_earns_nothing_and_the_right_one_still_does(guarded: World) -> None:
    ada = await guarded.someone("ada")
    proof = solved(await asked(ada))
    for wrong in ("", "hs1.", "hs1.WzFd", proof["proofofwork"].removeprefix("hs1.")):
        shown = await show(ada, proof | {"proofofwork": wrong})
        check_refused(shown, 403, "proof_of_work_required")
    del (nothing := dict(proof))["proofofwork"]
    check_refused(await show(ada, nothing), 403, "proof_of_work_required")
    assert (await show(ada, proof)).status_code == 200


async def test_less_work_than_was_asked_for_does_not_do(guarded: World) -> None:
    ada = await guarded.someone("ada")
    requirements = await asked(ada)
    seed = requirements["proofofwork"]["seed"]
    easier = (solve(seed, difficulty_of(BITS - 4), str(nonce)) for nonce in count())
    less = next(each for each in easier if not is_solved(seed, difficulty_of(BITS), each))
    shown = await show(ada, solved(requirements) | {"proofofwork": less})
    check_refused(shown, 403, "proof_of_work_required")


async def test_a_proof_counts_once_however_many_show_it_at_once(guarded: World) -> None:
    ada = await guarded.someone("ada")
    proof = solved(await asked(ada))
    shown = await asyncio.gather(*(show(ada, proof) for _ in range(20)))
    assert sorted(each.status_code for each in shown) == [200] + [401] * 19
    check_refused(await show(ada, proof), 401, "token_invalid")


async def test_nobody_uses_what_another_account_was_given(guarded: World) -> None:
    ada, eve = await guarded.someone("ada"), await guarded.someone("eve")
    proof = solved(await asked(ada))
    check_refused(await show(eve, proof), 401, "token_invalid")
    token = (await show(ada, proof)).json()["token"]
    check_refused(await send(eve, token), 403, "proof_of_work_required")
    pinged = await eve.http.post(f"{SENTINEL}/ping", headers={TOKEN: token})
    check_refused(pinged, 401, "token_invalid")
    exchanged = await eve.http.post(
        f"{SENTINEL}/req", json={"prepare_token": proof["prepare_token"]}
    )
    check_refused(exchanged, 401, "token_invalid")


async def test_what_one_browser_earned_is_of_no_use_in_another(guarded: World) -> None:
    ada = await guarded.someone("ada")
    ada.http.headers["oai-device-id"] = "laptop"
    proof = solved(await asked(ada))
    ada.http.headers["oai-device-id"] = "phone"
    check_refused(await show(ada, proof), 401, "token_invalid")
    ada.http.headers["oai-device-id"] = "laptop"
    token = (await show(ada, proof)).json()["token"]
    assert (await send(ada, token)).status_code == 200
    ada.http.headers["oai-device-id"] = "phone"
    check_refused(await send(ada, token), 403, "proof_of_work_required")


async def test_a_strange_device_is_none(guarded: World) -> None:
    ada = await guarded.someone("ada")
    token = await work(ada)
    for strange in ("", "x" * 65, "a b", "a\tb"):
        ada.http.headers["oai-device-id"] = strange
        assert (await send(ada, token)).status_code == 200


async def test_forged_tokens_and_those_of_another_kind_are_refused(guarded: World) -> None:
    ada = await guarded.someone("ada")
    proof = solved(await asked(ada))
    token = await work(ada)
    for forged in ("", ".", "x" * 5000, token[:-2], proof["prepare_token"]):
        check_refused(await send(ada, forged), 403, "proof_of_work_required")
    for forged in ("", ".", "é", "a.b", proof["prepare_token"][:-2], token):
        check_refused(await show(ada, proof | {"prepare_token": forged}), 401, "token_invalid")
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
    expired = earned(ada.user_id, guarded.house.secret, held_s=-1)
    refused = await send(ada, expired)
    check_refused(refused, 403, "proof_of_work_required")
    assert "expired" in refused.json()["detail"]
    pinged = await ada.http.post(f"{SENTINEL}/ping", headers={TOKEN: expired})
    check_refused(pinged, 401, "token_expired")


async def test_what_signs_the_pages_token_signs_no_pass(guarded: World) -> None:
    ada = await guarded.someone("ada")
    signed = earned(ada.user_id, guarded.house.csrf_secret, held_s=60)
    check_refused(await send(ada, signed), 403, "proof_of_work_required")


async def test_a_token_is_kept_alive_for_an_hour(guarded: World) -> None:
    ada = await guarded.someone("ada")
    old = earned(ada.user_id, guarded.house.secret, held_s=10)
    renewed = await ada.http.post(f"{SENTINEL}/ping", headers={TOKEN: old})
    assert renewed.json()["expire_after"] == EARNED_S
    assert (await send(ada, renewed.json()["token"])).status_code == 200
    too_old = earned(ada.user_id, guarded.house.secret, held_s=10, age_s=RENEWABLE_S)
    refused = await ada.http.post(f"{SENTINEL}/ping", headers={TOKEN: too_old})
    check_refused(refused, 401, "token_expired")


def earned(user_id: str, secret: bytes, held_s: float, age_s: float = 500.0) -> str:
    now = time.time()
    return sign(
        secret,
        Earned(
            user_id=user_id,
            device="-",
            bits=BITS,
            earned_at=now - age_s,
            expires_at=now + held_s,
        ),
    )


async def test_a_used_seed_is_exchanged_for_a_fresh_one(guarded: World) -> None:
    ada = await guarded.someone("ada")
    requirements = await asked(ada)
    await show(ada, solved(requirements))
    exchanged = await ada.http.post(
        f"{SENTINEL}/req",
        json={"prepare_token": requirements["prepare_token"], "flow": "conversation"},
    )
    assert exchanged.json()["proofofwork"]["seed"] != requirements["proofofwork"]["seed"]
    assert (await show(ada, solved(exchanged.json()))).status_code == 200


async def test_work_is_asked_for_while_many_answers_are_written(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        world = await opened(stack, msgspec.structs.replace(settings, max_turns=2))
        ada, eve = await world.someone("ada"), await world.someone("eve")
        heard = await ada.send("!script tokens=100000 pace=5ms", until_chars=10)
        check_refused(await send(eve), 403, "proof_of_work_required")
        assert (await send(eve, await work(eve))).status_code == 200
        await ada.http.post(
            "/backend-api/stop_conversation", json={"conversation_id": heard.conversation_id}
        )
        assert (await send(eve)).status_code == 200


async def test_who_is_refused_again_and_again_has_to_work(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    for _ in range(11):
        await show(eve, {"prepare_token": "forged"})
    assert (await asked(eve))["proofofwork"]["required"] is True
    check_refused(await send(eve), 403, "proof_of_work_required")
    assert (await send(eve, await work(eve))).status_code == 200
    assert (await asked(ada))["proofofwork"]["required"] is False


async def test_only_refused_sends_resumes_and_proofs_count(world: World) -> None:
    ada, store = await world.someone("ada"), world.house.services.store
    for _ in range(11):
        assert (await ada.http.get("/backend-api/people")).status_code == 403
    for _ in range(REPORTS_A_MINUTE + 11):
        reported = await ada.http.post("/backend-api/lat/r", json={})
    assert reported.status_code == 429
    await store.limits.set("user", ada.user_id, Limit(tokens_per_day=0))
    for _ in range(11):
        check_refused(await send(ada), 429, "quota_exceeded")
    assert (await asked(ada))["proofofwork"]["required"] is False
    await store.limits.set("user", ada.user_id, Limit(requests_per_minute=0))
    for _ in range(11):
        await send(ada)
    assert (await asked(ada))["proofofwork"]["required"] is True


@pytest.mark.parametrize("limit", [Limit(requests_per_minute=0), Limit(tokens_per_minute=0)])
async def test_nobody_works_for_what_others_do_at_their_address(world: World, limit: Limit) -> None:
    ada, store = await world.someone("ada"), world.house.services.store
    await store.limits.set("address", "", limit)
    for _ in range(11):
        check_refused(await send(ada), 429, "rate_limit_exceeded")
    assert (await asked(ada))["proofofwork"]["required"] is False


async def test_a_forged_token_to_read_on_with_counts(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    body = {"conversation_id": heard.conversation_id}
    forged = {"x-conduit-token": "forged"}
    for _ in range(11):
        resumed = await ada.http.post(
            "/backend-api/f/conversation/resume", json=body, headers=forged
        )
        check_refused(resumed, 401, "token_invalid")
    assert (await asked(ada))["proofofwork"]["required"] is True


class Surroundings:
    """How a gate finds the house, and the time, in tests that change them."""

    def __init__(self, mode: Any = "auto", bits: int = 12) -> None:
        self.load = 0.0
        self.ahead_s = 0.0
        settings = Settings(gate=mode, gate_difficulty=bits)
        self.gate = Gate(settings, b"secret", lambda: self.load, now=self._now)

    def _now(self) -> float:
        return time.time() + self.ahead_s

    def worked(self) -> str:
        token, challenge = self.gate.challenge(ADA)
        answer = solve(challenge.seed, challenge.difficulty, "test")
        return self.gate.redeem(ADA, token, answer)[0]


@pytest.mark.parametrize(
    ("load", "bits"), [(0.0, 0), (0.49, 0), (0.5, 12), (0.75, 14), (0.9, 16), (1.0, 16)]
)
def test_load_raises_what_is_asked(load: float, bits: int) -> None:
    around = Surroundings()
    around.load = load
    assert around.gate.bits(ADA) == bits


def test_never_means_never_and_always_begins_at_once() -> None:
    off, always = Surroundings("off"), Surroundings("always")
    assert always.gate.bits(ADA) == 12
    off.load = always.load = 1.0
    assert off.gate.bits(ADA) == 0
    assert always.gate.bits(ADA) == 18


def test_what_is_asked_has_an_end() -> None:
    around = Surroundings("always", bits=20)
    around.load = 1.0
    for _ in range(200):
        around.gate.blame("ada")
    assert around.gate.bits(ADA) == 24


def test_refusals_are_forgotten() -> None:
    around = Surroundings()
    for _ in range(16):
        around.gate.blame("ada")
    assert around.gate.bits(ADA) == 12
    assert around.gate.bits(Holder("eve", "laptop")) == 0
    around.ahead_s = HALF_LIFE_S
    assert around.gate.bits(ADA) == 0


def test_a_small_rise_stops_nobody_and_a_large_one_asks_for_more() -> None:
    around = Surroundings("always", bits=4)
    token = around.worked()
    around.load = 0.75
    assert around.gate.bits(ADA) == 8
    around.gate.check(ADA, token)
    around.gate.renew(ADA, token)
    around.load = 0.9
    assert around.gate.bits(ADA) == 10
    for again in (around.gate.check, around.gate.renew):
        with pytest.raises(ProofNeeded, match="More work"):
            again(ADA, token)
    around.gate.check(ADA, around.worked())


def test_no_work_is_never_enough_where_some_is_asked_for() -> None:
    around = Surroundings(bits=4)
    token = around.worked()
    around.gate.renew(ADA, token)
    around.load = 0.5
    assert around.gate.bits(ADA) == 4
    for again in (around.gate.check, around.gate.renew):
        with pytest.raises(ProofNeeded, match="More work"):
            again(ADA, token)


def test_however_often_one_was_refused_a_while_is_enough() -> None:
    around = Surroundings()
    for _ in range(10_000):
        around.gate.blame("ada")
    assert around.gate.bits(ADA) > 12
    around.ahead_s = 4 * HALF_LIFE_S
    assert around.gate.bits(ADA) == 0


def test_whoever_was_not_refused_for_the_longest_time_is_forgotten_first() -> None:
    around = Surroundings()
    for _ in range(16):
        around.gate.blame("ada")
        around.gate.blame("eve")
    around.gate.blame("ada")
    for number in range(MAX_SCORES - 1):
        around.gate.blame(f"somebody {number}")
    assert around.gate.bits(ADA) == 12
    assert around.gate.bits(Holder("eve", "laptop")) == 0


def test_a_seed_expires_before_its_token_and_both_do() -> None:
    around = Surroundings("always", bits=4)
    token, challenge = around.gate.challenge(ADA)
    answer = solve(challenge.seed, challenge.difficulty, "test")
    around.ahead_s = SEED_S
    with pytest.raises(PassExpired, match="seed"):
        around.gate.redeem(ADA, token, answer)
    fresh, challenge = around.gate.exchange(ADA, token)
    around.gate.redeem(ADA, fresh, solve(challenge.seed, challenge.difficulty, "test"))
    around.ahead_s = -2 * 3600
    old, _ = around.gate.challenge(ADA)
    with pytest.raises(PassExpired):
        around.gate.exchange(ADA, old)


def test_no_challenge_outlives_the_memory_of_what_was_redeemed() -> None:
    before, after = Surroundings("always", bits=4), Surroundings("always", bits=4)
    token, challenge = before.gate.challenge(ADA)
    answer = solve(challenge.seed, challenge.difficulty, "test")
    with pytest.raises(PassInvalid):
        after.gate.redeem(ADA, token, answer)
    after.gate.check(ADA, before.worked())


def test_one_person_redeems_so_many_and_others_are_not_held_up() -> None:
    around = Surroundings("always", bits=1)
    for _ in range(MAX_REDEEMED):
        around.worked()
    with pytest.raises(TooFast):
        around.worked()
    eve = Holder("eve", "laptop")
    token, challenge = around.gate.challenge(eve)
    around.gate.redeem(eve, token, solve(challenge.seed, challenge.difficulty, "test"))
    around.ahead_s = SEED_S
    around.worked()


def test_a_challenge_signed_with_the_houses_secret_is_not_ours() -> None:
    around = Surroundings("always")
    challenge = Challenge(
        user_id="ada",
        device="laptop",
        bits=0,
        seed="",
        seed_until=time.time() + 60,
        expires_at=time.time() + 60,
    )
    with pytest.raises(PassInvalid):
        around.gate.redeem(ADA, sign(b"secret", challenge), "")

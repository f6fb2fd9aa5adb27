"""Work before a message: done by itself, in the background, and not without end."""

import asyncio

import pytest
from tests.unit.client.fake import Serve, answer, refusal, stream
from tests.unit.client.recorded import said, stored_answer, whole

from hitsend.client import Backoff, Client, Refused
from hitsend.wire.proof_of_work import difficulty_for_bits, is_solved
from hitsend.wire.responses import ChatRequirements, ProofOfWork, ProofToken

QUICK = Backoff(first_s=0.001, longest_s=0.002)
NEEDED = refusal(403, "proof_of_work_required")
PATH = "POST /backend-api/sentinel/chat-requirements"
SEND = "POST /backend-api/f/conversation"


def asked(difficulty: str, *, is_required: bool = True) -> bytes:
    work = ProofOfWork(is_required, "seed", difficulty)
    asked = ChatRequirements(
        persona="member", prepare_token="asked", proofofwork=work, expire_after=120
    )
    return answer(200, asked)


def earned(token: str) -> bytes:
    return answer(
        200, ProofToken(persona="member", token=token, expire_after=540, expire_at=1_760_000_540)
    )


async def test_a_server_that_asks_for_work_gets_it_and_then_the_message(serve: Serve) -> None:
    difficulty = difficulty_for_bits(8)
    fake = await serve(NEEDED, asked(difficulty), earned("pass"), *[stream(whole("hello"))] * 2)
    async with asyncio.timeout(10), Client(fake.url, "hs-key", QUICK) as client:
        updates = [update async for update in client.send("Say hello.")]
        await client.send("And again.").whole()
    assert said(updates) == stored_answer("hello")
    assert fake.lines == [SEND, f"{PATH}/prepare", f"{PATH}/finalize", SEND, SEND]
    assert is_solved("seed", difficulty, fake.body(2)["proofofwork"])
    assert fake.body(0) == fake.body(3)
    assert [fake.header(n, "hitsend-sentinel-token") for n in (3, 4)] == ["pass", "pass"]
    assert len({fake.header(number, "oai-device-id") for number in (1, 2, 3, 4)}) == 1


async def test_work_that_is_no_longer_asked_for_is_not_done(serve: Serve) -> None:
    fake = await serve(NEEDED, asked("", is_required=False), earned("pass"), stream(whole("hello")))
    async with asyncio.timeout(10), Client(fake.url, "hs-key", QUICK) as client:
        await client.send("Say hello.").whole()
    assert "proofofwork" not in fake.body(2)


async def test_a_server_that_is_never_satisfied_is_left(serve: Serve) -> None:
    rounds = [NEEDED, asked(difficulty_for_bits(1)), earned("pass")] * 3
    fake = await serve(*rounds, NEEDED)
    async with asyncio.timeout(10), Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Refused, match="proof_of_work_required"):
            await client.send("Say hello.").whole()


@pytest.mark.parametrize("difficulty", ["0" * 128, "", "xyz"])
async def test_endless_or_senseless_work_is_refused(serve: Serve, difficulty: str) -> None:
    fake = await serve(NEEDED, asked(difficulty))
    async with asyncio.timeout(10), Client(fake.url, "hs-key", QUICK) as client:
        with pytest.raises(Refused, match="too much proof of work"):
            await client.send("Say hello.").whole()

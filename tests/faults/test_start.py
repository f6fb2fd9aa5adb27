"""Turns that a crash left open are closed at the next start, however many there are."""

import gc
import time
from pathlib import Path

import pytest

from hitsend.events import AnswerStarted, AnyEvent, Stamped, TextArrived, TurnStarted
from hitsend.messages import Sampling, Text, Token
from hitsend.runner import Runner
from hitsend.store import LogEntry, NewTurn, Store

WORD = TextArrived(" word", (Token(7, " word", -0.5, 1.0),))


async def test_unfinished_turns_are_closed_at_start_with_their_text(tmp_path: Path) -> None:
    await leave_turns_open(tmp_path, num_turns=120, num_words=20)
    await close_turns(tmp_path, num_turns=120, num_words=20)


@pytest.mark.soak
async def test_five_hundred_turns_are_closed_within_a_second(tmp_path: Path) -> None:
    await leave_turns_open(tmp_path, num_turns=500, num_words=200)
    assert await close_turns(tmp_path, num_turns=500, num_words=200) <= 1.0


async def leave_turns_open(data_dir: Path, num_turns: int, num_words: int) -> None:
    store = await Store.open(data_dir / "hitsend.db")
    user = await store.accounts.create("ada", "", "member")
    for number in range(num_turns):
        turn = turn_of(user.id, number)
        await store.turns.accept(turn)
        events: list[AnyEvent] = [
            TurnStarted(turn.turn_id, f"c{number}", "next", "tiny", True, 1.0, Sampling()),
            AnswerStarted(turn.answer_id, turn.message_id, "tiny"),
            *[WORD] * num_words,
        ]
        log = [Stamped(seq, float(seq), event) for seq, event in enumerate(events, 1)]
        await store.turns.append([LogEntry(turn.turn_id, stamped) for stamped in log])
    await store.close()


def turn_of(user_id: str, number: int) -> NewTurn:
    return NewTurn(
        turn_id=f"t{number}",
        user_id=user_id,
        conversation_id=f"c{number}",
        creates_conversation=True,
        action="next",
        model="tiny",
        message_id=f"q{number}",
        parts=(Text("hello"),),
        answer_id=f"a{number}",
        created_at=1.0,
    )


async def close_turns(data_dir: Path, num_turns: int, num_words: int) -> float:
    """Returns the CPU time: the machine may be busy."""
    store = await Store.open(data_dir / "hitsend.db")
    assert len(open_turns := await store.turns.list_running()) == num_turns
    runner = Runner(store)
    gc.freeze()  # like `serve`
    began = time.process_time()
    await runner.open()
    took_s = time.process_time() - began
    gc.unfreeze()
    assert await store.turns.list_running() == []
    for turn in open_turns[:: num_turns // 10]:
        conversation = await store.conversations.get(f"c{turn.id[1:]}", turn.user_id)
        answer = conversation.messages[-1]
        assert (answer.text, answer.status) == (WORD.text * num_words, "partial")
    await runner.close()
    await store.close()
    return took_s

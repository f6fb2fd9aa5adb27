"""The journey of one message, from Send to the last word. Read this file first.

    admit -> context -> encode -> accept -> answer

Each step is one function in `steps/`; this file only puts them in order. What a step
learned is yielded as an event, and whoever follows the turn (the page, an SDK, the log, a
test) sees the same events in the same order. Nothing else happens between Send and the
answer.

What is raised before `TurnAccepted` is a refusal: the sender is told at once and nothing is
kept. From `TurnAccepted` on nothing is lost: what fails becomes an event. `runner.py` numbers,
times, stores and shows the events; stopping a turn is cancelling it, and what was said stays.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from hitsend.engine import Engine
from hitsend.events import AnswerFinished, AnyEvent, Ending, PromptEncoded, TurnFinished
from hitsend.send import Send
from hitsend.settings import Settings
from hitsend.steps.accept import accept
from hitsend.steps.admit import admit
from hitsend.steps.answer import answer
from hitsend.steps.context import build_context
from hitsend.steps.encode import encode_prompt
from hitsend.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """What a turn may use. Built once by server/app.py, by hand by each test."""

    settings: Settings
    store: Store
    engine: Engine


async def run_turn(send: Send, services: Services) -> AsyncGenerator[AnyEvent, None]:
    settings, store, engine = services.settings, services.store, services.engine

    turn = await admit(send, engine, settings)
    yield turn.started

    context, built = await build_context(turn, store, settings)
    yield built

    prompt, encoded = await encode_prompt(context, turn, engine)
    yield encoded

    for event in await accept(turn, store):
        yield event

    ending: Ending = "stop"
    async with aclosing(answer(turn, prompt, engine)) as answering:
        async for event in answering:
            yield event
            if isinstance(event, AnswerFinished):
                ending = event.ending

    yield TurnFinished(ending)


async def weigh(send: Send, services: Services) -> PromptEncoded:
    """What a Send would take of the model's window, by the same steps. Nothing is kept, no
    model is loaded for it, and what would refuse the Send is raised here too."""
    settings, store, engine = services.settings, services.store, services.engine
    await engine.require_ready(send.model)
    turn = await admit(send, engine, settings)
    context, _ = await build_context(turn, store, settings)
    _, encoded = await encode_prompt(context, turn, engine)
    return encoded

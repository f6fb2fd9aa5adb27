"""The journey of one message, from Send to the last word. Read this file first.

    admit -> context -> encode -> accept -> answer (-> title)

Each step is one function in `steps/`; this file only puts them in order. What a step
learned is yielded as an event, and whoever follows the turn (the page, an SDK, the log, a
test) sees the same events in the same order. Nothing else happens between Send and the
answer.

What is raised before `TurnAccepted` is a refusal: the sender is told at once and nothing is
kept. From `TurnAccepted` on nothing is lost: what fails becomes an event. `runner.py` numbers,
times, stores and shows the events; stopping a turn is cancelling it, and what was said stays.
With `TurnFinished` the turn is over for everyone who waits. What may follow is an afterword: a
better title for a new conversation, found while the engine has nothing else to do.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from hitsend.engine import Engine, Prompt
from hitsend.events import (
    AnswerFinished,
    AnyEvent,
    Ending,
    PromptEncoded,
    TextArrived,
    TitleChosen,
    TurnFinished,
)
from hitsend.send import Send, Turn
from hitsend.settings import Settings
from hitsend.steps.accept import accept
from hitsend.steps.admit import admit
from hitsend.steps.answer import answer
from hitsend.steps.context import build_context
from hitsend.steps.encode import encode_prompt
from hitsend.steps.title import NUM_ANSWER_CHARS, find_title, wants_title
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

    num_granted, accepted = await accept(turn, prompt, store)
    for event in accepted:
        yield event

    ending: Ending = "stop"
    beginning = ""
    async with aclosing(answer(turn, prompt, num_granted, engine)) as answering:
        async for event in answering:
            yield event
            if isinstance(event, AnswerFinished):
                ending = event.ending
            elif isinstance(event, TextArrived) and len(beginning) < NUM_ANSWER_CHARS:
                beginning += event.text

    yield TurnFinished(ending)

    if settings.model_titles and wants_title(turn, ending) and await _is_unnamed(turn, store):
        title = await find_title(turn, beginning, engine)
        if title and await _is_unnamed(turn, store):
            yield TitleChosen(title, revision=2)


async def _is_unnamed(turn: Turn, store: Store) -> bool:
    """A name that somebody gives the conversation meanwhile stays."""
    return await store.conversations.is_unnamed(turn.conversation_id, turn.send.user_id)


async def weigh(send: Send, services: Services) -> tuple[Prompt, PromptEncoded]:
    """What a Send would give the model to read, and how much of its window that takes, by the
    same steps. Nothing is kept, no model is loaded for it, and what would refuse the Send is
    raised here too."""
    settings, store, engine = services.settings, services.store, services.engine
    await engine.require_ready(send.model)
    turn = await admit(send, engine, settings)
    context, _ = await build_context(turn, store, settings)
    return await encode_prompt(context, turn, engine)

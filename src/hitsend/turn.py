"""The journey of one message, from Send to the last word. Read this file first.

    admit -> remember -> context -> encode -> accept -> answer (-> title, suggestion)

Each step is one function in `steps/`; this file only puts them in order. What a step
learned is yielded as an event, and whoever follows the turn (the page, an SDK, the log, a
test) sees the same events in the same order. Nothing else happens between Send and the
answer.

What is raised before `TurnAccepted` is a refusal: the sender is told at once and nothing is
kept. From `TurnAccepted` on nothing is lost: what fails becomes an event. `runner.py` numbers,
times, stores and shows the events; stopping a turn is cancelling it, and what was said stays.
With `TurnFinished` the turn is over for everyone who waits. What may follow is an afterword: a
better title for a new conversation, or something to remember, for the person to accept, found
while the engine has nothing else to do.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from hitsend.background import Background
from hitsend.context.notes import Note
from hitsend.context.window import WHOLE, Context, Cut
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
from hitsend.messages import Usage
from hitsend.prompt_book import PromptBook
from hitsend.recall import Recall
from hitsend.send import Send, Turn
from hitsend.settings import Settings
from hitsend.steps.accept import accept
from hitsend.steps.admit import admit
from hitsend.steps.answer import answer
from hitsend.steps.context import NOTHING, Beside, Sources, build_context
from hitsend.steps.encode import cut_to_fit, encode_prompt, told
from hitsend.steps.remember import (
    Wish,
    fulfil,
    hear_wish,
    memory_tools,
    notes_of,
    suggest_memory,
)
from hitsend.steps.summarise import is_outgrown, summarise, to_sum_up
from hitsend.steps.title import NUM_ANSWER_CHARS, find_title, wants_title
from hitsend.steps.use_tools import use_tools
from hitsend.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """What a turn may use. Built once by server/app.py, by hand by each test."""

    settings: Settings
    store: Store
    engine: Engine
    book: PromptBook
    recall: Recall
    background: Background
    spare_time: Background
    """What waits until the engine has nothing else to do, and would keep the rest waiting."""


async def run_turn(send: Send, services: Services) -> AsyncGenerator[AnyEvent, None]:
    settings, store, engine = services.settings, services.store, services.engine

    turn = await admit(send, engine, settings, services.book)
    yield turn.started

    wish = await hear_wish(turn, store, services.recall, engine)
    beside = Beside(notes_of(wish, send.text), forgotten=wish.removed_ids)

    context, prompt = await _fitted(turn, services, WHOLE, beside)
    built, encoded = told(context, prompt)
    yield built
    yield encoded

    num_granted, accepted = await accept(turn, prompt, context.seen, store)
    for event in accepted:
        yield event
    for changed in await fulfil(wish, turn, store):
        yield changed

    ending: Ending = "stop"
    beginning = ""
    async with aclosing(_answering(turn, context, prompt, num_granted, wish, services)) as events:
        async for event in events:
            yield event
            if isinstance(event, AnswerFinished):
                ending = event.ending
            elif isinstance(event, TextArrived) and len(beginning) < NUM_ANSWER_CHARS:
                beginning += event.text

    yield TurnFinished(ending)
    if not turn.is_api:
        _learn_memories(turn, services)
    if is_outgrown(context, prompt):
        _prepare_to_forget(turn, context, prompt, services)

    if settings.model_titles and wants_title(turn, ending) and await _is_unnamed(turn, store):
        title = await find_title(turn, beginning, engine, services.book)
        if title and await _is_unnamed(turn, store):
            yield TitleChosen(title, revision=2)

    if suggested := await suggest_memory(turn, store, engine, services.book):
        yield suggested


def _answering(
    turn: Turn, context: Context, prompt: Prompt, num_granted: int, wish: Wish, services: Services
) -> AsyncGenerator[AnyEvent, None]:
    """Where the model is to tell what the person wants, it has tools for that."""
    engine = services.engine
    if not wish.is_unclear:
        return answer(turn, prompt, num_granted, engine)
    tools = memory_tools(turn, services.store, services.recall)

    async def go_on(notes: Sequence[Note], used: Usage) -> AsyncGenerator[AnyEvent, None]:
        # It is shown what it was before, and what came of the call.
        beside = Beside(notes, seen=context.seen)
        _, prompt = await _fitted(turn, services, context.cut, beside)
        num_left = max(num_granted - used.num_output_tokens, 1)
        return answer(turn, prompt, num_left, engine, tuple(tools))

    return use_tools(answer(turn, prompt, num_granted, engine, tuple(tools)), tools, go_on)


async def _fitted(
    turn: Turn, services: Services, cut: Cut | None = WHOLE, beside: Beside = NOTHING
) -> tuple[Context, Prompt]:
    """As much as fits. Nearly always that is all of it, at the first try."""
    instructions = services.settings.instructions
    sources = Sources(services.store, services.book, services.recall, instructions)
    while cut is not None:
        context = await build_context(turn, sources, cut, beside)
        prompt = await encode_prompt(context, turn, services.engine)
        cut = cut_to_fit(context, prompt, turn)
    return context, prompt


def _learn_memories(turn: Turn, services: Services) -> None:
    """What was remembered since is found by its meaning, too. Mostly there is nothing to do."""
    learn = partial(services.recall.learn_memories, turn.send.user_id)
    services.background.want(f"memories:{turn.send.user_id}", learn)


def _prepare_to_forget(turn: Turn, context: Context, prompt: Prompt, services: Services) -> None:
    """What will no longer fit some turns from now can be found again, and is summed up."""
    conversation_id, asked = turn.conversation_id, to_sum_up(turn, context, prompt)
    learn = partial(services.recall.learn_exchanges, conversation_id, turn.send.user_id)
    sum_up = partial(summarise, asked, services.store, services.engine, services.book)
    services.background.want(f"exchanges:{conversation_id}", learn)
    services.spare_time.want(f"summaries:{conversation_id}", sum_up)


async def _is_unnamed(turn: Turn, store: Store) -> bool:
    """A name that somebody gives the conversation meanwhile stays."""
    return await store.conversations.is_unnamed(turn.conversation_id, turn.send.user_id)


async def weigh(send: Send, services: Services) -> tuple[Prompt, PromptEncoded]:
    """What a Send would give the model to read, and how much of its window that takes, by the
    same steps. Nothing is kept, no model is loaded for it, and what would refuse the Send is
    raised here too."""
    await services.engine.require_ready(send.model)
    turn = await admit(send, services.engine, services.settings, services.book)
    context, prompt = await _fitted(turn, services)
    return prompt, told(context, prompt)[1]

"""The journey of one message, from Send to the last word. Read this file first.

    admit -> remember -> context -> encode -> accept -> answer <-> tools -> title, afterword

Each step is one function in `steps/` or `context/`; this file only puts them in order. A step's
result is yielded as an event, and whoever follows the turn (the page, an SDK, the log, a test)
sees the same events in the same order.

An error raised before `TurnAccepted` refuses the Send: the sender is told at once and nothing is
stored. After `TurnAccepted` nothing is lost: a failure becomes an event. `runner/` numbers, times,
stores and shows the events. Stopping a turn cancels it, and the text so far stays. `TurnFinished`
ends the turn for everyone who waits. The title is written beside the answer where the engine has
room, else in the afterword, while the engine is idle; a memory may be suggested there too.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from msgspec import UNSET

from hitsend.background import Background
from hitsend.context.build import NO_NOTES, ContextBuilder, Sources, TurnNotes
from hitsend.context.recall import Recall
from hitsend.context.window import NO_CUT, Context, Cut
from hitsend.engine import Engine, Prompt
from hitsend.events import AnyEvent, PromptEncoded, TurnFinished
from hitsend.prompts.picker import PromptPicker
from hitsend.send import Send, Turn
from hitsend.settings import Settings
from hitsend.steps.accept import accept
from hitsend.steps.admit import admit
from hitsend.steps.answer import Answer, generate
from hitsend.steps.encode import (
    context_built_event,
    cut_to_fit,
    encode_prompt,
    prompt_encoded_event,
)
from hitsend.steps.remember import may_suggest_memory, read_memory_request, suggest_memory
from hitsend.steps.summarise import is_outgrown, plan_summaries, summarise
from hitsend.steps.title import TitleWriter
from hitsend.steps.tools import run_tools
from hitsend.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    """The services that a turn uses. server/app.py builds them once; tests build their own."""

    settings: Settings
    store: Store
    engine: Engine
    prompts: PromptPicker
    recall: Recall
    background: Background
    idle_work: Background
    """Work that waits until the engine is idle."""


async def run_turn(send: Send, services: Services) -> AsyncGenerator[AnyEvent, None]:
    store, engine = services.store, services.engine

    turn = await admit(send, engine, services.settings, services.prompts)
    yield turn.started_event

    memory = await read_memory_request(turn, store, services.recall, engine)

    notes = TurnNotes(memory.notes, forgotten=memory.removed_ids)
    context, prompt = await fit_context(turn, services, NO_CUT, notes)
    yield context_built_event(context, prompt)
    yield prompt_encoded_event(context, prompt)

    num_granted, accepted = await accept(turn, prompt, context.seen, store)
    for event in accepted:
        yield event
    for changed in await memory.apply():
        yield changed

    answer = Answer(turn, num_granted, memory.tools)
    yield answer.started_event
    has_titles = services.settings.model_titles
    async with aclosing(
        TitleWriter(turn, store, engine, services.prompts, is_on=has_titles)
    ) as title:
        while True:
            async with aclosing(generate(answer, prompt, engine)) as events:
                async for event in events:
                    yield event
                    if chosen := title.poll(answer.beginning):
                        yield chosen
            if not answer.calls:
                break
            ran = await run_tools(answer.calls, memory.tools)
            for event in ran.events:
                yield event
            # The model sees the same context again, with notes of what its calls did.
            notes = TurnNotes(ran.notes, seen=context.seen)
            _, prompt = await fit_context(turn, services, context.cut, notes)
        yield answer.finished_event

        has_afterword = title.is_due(answer.ending) or may_suggest_memory(turn)
        yield TurnFinished(answer.ending, has_afterword or UNSET)

        _schedule_learning(turn, context, prompt, services)
        if chosen := await title.finish(answer.ending, answer.beginning):
            yield chosen
        if suggested := await suggest_memory(turn, store, engine, services.prompts):
            yield suggested


async def fit_context(
    turn: Turn, services: Services, cut: Cut | None = NO_CUT, notes: TurnNotes = NO_NOTES
) -> tuple[Context, Prompt]:
    """Builds and encodes the context until it fits. Nearly always the first one does."""
    instructions = services.settings.instructions
    sources = Sources(services.store, services.prompts, services.recall, instructions)
    while cut is not None:
        context = await ContextBuilder(turn, sources, cut, notes).build()
        prompt = await encode_prompt(context, turn, services.engine)
        cut = cut_to_fit(context, prompt, turn)
    return context, prompt


async def preview_prompt(send: Send, services: Services) -> tuple[Prompt, PromptEncoded]:
    """Returns the prompt a Send would have, and its share of the window. Stores nothing and loads
    no model; an error that would refuse the Send is raised here too."""
    await services.engine.require_ready(send.model)
    turn = await admit(send, services.engine, services.settings, services.prompts)
    context, prompt = await fit_context(turn, services)
    return prompt, prompt_encoded_event(context, prompt)


def _schedule_learning(turn: Turn, context: Context, prompt: Prompt, services: Services) -> None:
    """Embeds new memories, and prepares for the messages that will fall out of the window some
    turns from now: recall finds them by their vectors, and summaries stand in for them."""
    user_id, conversation_id, recall = turn.send.user_id, turn.conversation_id, services.recall
    if not turn.is_api:
        services.background.schedule(f"memories:{user_id}", partial(recall.embed_memories, user_id))
    if is_outgrown(context, prompt):
        embed = partial(recall.embed_exchanges, conversation_id, user_id)
        services.background.schedule(f"exchanges:{conversation_id}", embed)
        plan = plan_summaries(turn, context, prompt)
        write = partial(summarise, plan, services.store, services.engine, services.prompts)
        services.idle_work.schedule(f"summaries:{conversation_id}", write)

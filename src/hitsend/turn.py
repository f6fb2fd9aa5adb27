"""The journey of one message, from Send to the last word. Read this file first.

    admit -> screen -> remember -> context -> encode -> accept -> answer <-> tools -> afterword
                                                                     |
                                                                   guard

Each step is one function in `steps/` or `context/`; this file only puts them in order. A step's
result is yielded as an event, and whoever follows the turn (the page, an SDK, the log, a test)
sees the same events in the same order.

An error raised before `TurnAccepted` refuses the Send: the sender is told at once and nothing is
stored. After `TurnAccepted` nothing is lost: a failure becomes an event. `runner/` numbers, times,
stores and shows the events. Stopping a turn cancels it, and the text so far stays. `TurnFinished`
ends the turn for everyone who waits; a title and a suggested memory may follow it.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import UNSET
from msgspec.structs import replace

from hitsend.context.build import NO_NOTES, ContextBuilder, TurnNotes
from hitsend.context.window import NO_CUT, Context, Cut
from hitsend.engine import Prompt
from hitsend.events import AnyEvent, PromptEncoded, TurnFinished
from hitsend.send import Send, Turn
from hitsend.services import Services
from hitsend.steps.accept import accept
from hitsend.steps.admit import admit
from hitsend.steps.afterword import Afterword
from hitsend.steps.answer import Answer, generate
from hitsend.steps.encode import (
    context_built_event,
    cut_to_fit,
    encode_prompt,
    prompt_encoded_event,
)
from hitsend.steps.guard import Guard
from hitsend.steps.remember import read_memory_request
from hitsend.steps.screen import redact_turn, screen
from hitsend.steps.summarise import schedule_learning
from hitsend.steps.tools import ToolLoop, pick_tools
from hitsend.tools import HostedTool


async def run_turn(send: Send, services: Services) -> AsyncGenerator[AnyEvent, None]:
    turn = await admit(send, services)
    yield turn.started_event

    screened = await screen(turn, services)
    turn = screened.turn
    for event in screened.events:
        yield event
    if screened.is_blocked:
        _, accepted = await accept(turn, None, None, services.store, screened.screening)
        for event in (*accepted, *screened.explain()):
            yield event
        return

    memory = await read_memory_request(turn, services)
    tools = [*await pick_tools(turn, services), *memory.tools]
    notes = replace(memory.notes, notes=[*screened.notes, *memory.notes.notes])
    context, prompt = await fit_context(turn, services, tools, notes)
    yield context_built_event(context, prompt, tools)
    yield prompt_encoded_event(context, prompt)

    num_granted, accepted = await accept(
        turn, prompt, context.seen, services.store, screened.screening
    )
    for event in accepted:
        yield event
    for changed in await memory.apply():
        yield changed

    answer = Answer(turn, num_granted, tools, context.undecided)
    loop = ToolLoop(turn, context, services)
    guard = Guard(services.safety, screened.policy, is_doubtful=screened.is_doubtful)
    async with aclosing(Afterword(turn, services, guard.may_show)) as afterword:
        while True:
            if answer.calls:
                async with aclosing(loop.run(answer)) as events:
                    async for event in events:
                        yield event
                if loop.is_over:
                    break
                notes = replace(notes, seen=context.seen, rounds=answer.said)
                context, prompt = await fit_context(turn, services, tools, notes, context.cut)
            yield answer.begin_round()
            generated = generate(answer, prompt, services.engine)
            async with aclosing(guard.watch(generated, context)) as events:
                async for event in events:
                    yield event
                    if title := afterword.poll_title(answer.beginning):
                        yield title
            if guard.has_blocked:
                answer.block()
            yield answer.finished_event
            if not answer.calls:
                break
        yield TurnFinished(answer.ending, afterword.is_due(answer.ending) or UNSET)

        schedule_learning(turn, context, prompt, services)
        async for event in afterword.events(answer.ending, answer.beginning):
            yield event


async def fit_context(
    turn: Turn,
    services: Services,
    tools: Sequence[HostedTool] = (),
    notes: TurnNotes = NO_NOTES,
    cut: Cut | None = NO_CUT,
) -> tuple[Context, Prompt]:
    """Builds and encodes the context until it fits. Nearly always the first one does."""
    while cut is not None:
        context = await ContextBuilder(turn, services, cut, notes).build()
        prompt = await encode_prompt(context, turn, services.engine, tools, services.recall)
        cut = cut_to_fit(context, prompt, turn)
    return context, prompt


async def preview_prompt(send: Send, services: Services) -> tuple[Prompt, PromptEncoded]:
    """Returns the prompt a Send would have, and its share of the window. Stores nothing and loads
    no model; an error that would refuse the Send is raised here too."""
    await services.engine.require_ready(send.model)
    turn = await redact_turn(await admit(send, services), services)
    context, prompt = await fit_context(turn, services, await pick_tools(turn, services))
    return prompt, prompt_encoded_event(context, prompt)

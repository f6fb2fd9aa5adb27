"""The context of an answer: what the model saw, as far as the caller may see it."""

from starlette.responses import Response

from hitsend.context.notes import Notes
from hitsend.events import ContextBuilt, Section
from hitsend.messages import Seen, UsedPrompt
from hitsend.prompts import shipped_prompts
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.store import MessageRow, PathLimit
from hitsend.wire.responses import (
    ContextExchange,
    ContextMemory,
    ContextPrompt,
    ContextSummary,
    MessageContext,
)

ONE_MESSAGE = PathLimit(model="", num_chars=0)
NUM_FIRST_EVENTS = 8
"""`ContextBuilt` is among the first events of a turn."""


@endpoint(
    "GET",
    "/backend-api/conversation/{conversation_id}/message/{message_id}/context",
    Access.SESSION,
)
async def get_context(call: Call) -> Response:
    """Get what the model saw before an answer. Prompts are shown to administrators only."""
    conversation_id, message_id = call.path_param("conversation_id"), call.path_param("message_id")
    user_id, store = call.user_id, call.app.services.store
    [message] = await store.conversations.path(conversation_id, user_id, message_id, ONE_MESSAGE)
    seen, sections = message.seen or Seen(), await _sections(call, message)
    summaries = await store.summaries.list(conversation_id, user_id)
    exchanges = await store.exchanges.get(conversation_id, user_id, seen.recalled)
    texts = await store.memories.texts(user_id, seen.memories)
    recalled = [exchanges[one] for one in seen.recalled if one in exchanges]
    context = MessageContext(
        prompts=tuple([await _prompt(call, used) for used in seen.prompts]),
        profile=await _profile(call, message, sections),
        memories=tuple(ContextMemory(id, texts[id]) for id in seen.memories if id in texts),
        summaries=tuple(
            ContextSummary(one.id, one.level, one.text)
            for one in summaries
            if one.id in seen.summaries
        ),
        recalled=tuple(
            ContextExchange(one.message_id, one.question, one.answer) for one in recalled
        ),
        starts_at=seen.starts_at,
        num_dropped_messages=seen.num_dropped_messages,
        sections=sections,
    )
    return json_response(context)


async def _sections(call: Call, message: MessageRow) -> tuple[Section, ...]:
    """Imported messages and those of users have none."""
    if message.role != "assistant" or message.is_imported:
        return ()
    events = await call.app.services.store.turns.events(
        message.turn_id, call.user_id, limit=NUM_FIRST_EVENTS
    )
    built = (stamped.event for stamped in events if isinstance(stamped.event, ContextBuilt))
    return next((event.sections for event in built), ())


async def _profile(call: Call, message: MessageRow, sections: tuple[Section, ...]) -> str:
    """The profile as it is now, if the answer used it."""
    if not any(section.source == "profile" for section in sections):
        return ""
    services = call.app.services
    notes = Notes(services.prompts, call.user_id, message.model or "")
    note = await notes.profile(await services.store.profiles.get(call.user_id))
    return note.text.strip() if note else ""


async def _prompt(call: Call, used: UsedPrompt) -> ContextPrompt:
    """Only administrators see the text of a prompt."""
    is_admin = call.identity.user.role == "admin"
    text = await _template(call, used) if is_admin else None
    return ContextPrompt(used.name, used.version, text)


async def _template(call: Call, used: UsedPrompt) -> str | None:
    """None for a version that no longer exists."""
    prompt = shipped_prompts().get(used.name)
    if prompt is not None and prompt.version == used.version:
        return prompt.template
    return await call.app.services.store.prompts.template(used.name, used.version)

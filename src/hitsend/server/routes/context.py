"""What a model saw before it answered, as far as the asker may see it."""

from starlette.responses import Response

from hitsend.context.notes import Notes
from hitsend.events import ContextBuilt, Section
from hitsend.messages import Seen, UsedPrompt
from hitsend.prompts import shipped
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.store import Reach, StoredMessage

JUST_IT = Reach(model="", num_chars=0)
NUM_FIRST_EVENTS = 8
"""Of a turn's log. What the model was shown is told among them."""


@endpoint(
    "GET",
    "/backend-api/conversation/{conversation_id}/message/{message_id}/context",
    Access.SESSION,
)
async def get_context(call: Call) -> Response:
    """What a model saw before it answered: one's own, and the prompts for administrators."""
    conversation_id, message_id = call.path("conversation_id"), call.path("message_id")
    theirs, store = (conversation_id, call.user_id), call.house.services.store
    [message] = await store.conversations.path(*theirs, message_id, JUST_IT)
    seen, sections = message.seen or Seen(), await _sections(call, message)
    summaries = await store.summaries.list(*theirs)
    exchanges = await store.exchanges.get(*theirs, seen.recalled)
    texts = await store.memories.texts(call.user_id, seen.memories)
    shown = {
        "prompts": [await _prompt(call, used) for used in seen.prompts],
        "profile": await _profile(call, message, sections),
        "memories": [{"id": one, "text": texts[one]} for one in seen.memories if one in texts],
        "summaries": [
            {"id": one.id, "level": one.level, "text": one.text}
            for one in summaries
            if one.id in seen.summaries
        ],
        "recalled": [exchanges[one] for one in seen.recalled if one in exchanges],
        "starts_at": seen.starts_at,
        "num_dropped_messages": seen.num_dropped_messages,
        "sections": sections,
    }
    return answer(shown)


async def _sections(call: Call, message: StoredMessage) -> tuple[Section, ...]:
    """None where it was said elsewhere, or by a person."""
    if message.role != "assistant" or message.is_imported:
        return ()
    events = await call.house.services.store.turns.events(
        message.turn_id, call.user_id, most=NUM_FIRST_EVENTS
    )
    built = (stamped.event for stamped in events if isinstance(stamped.event, ContextBuilt))
    return next((event.sections for event in built), ())


async def _profile(call: Call, message: StoredMessage, sections: tuple[Section, ...]) -> str:
    """As it is now, where it was used."""
    if not any(section.source == "profile" for section in sections):
        return ""
    services = call.house.services
    notes = Notes(services.book, call.user_id, message.model or "")
    note = await notes.profile(await services.store.profiles.get(call.user_id))
    return note.text.strip() if note else ""


async def _prompt(call: Call, used: UsedPrompt) -> dict[str, object]:
    """How it is worded is the house's own affair."""
    is_admin = call.person.user.role == "admin"
    text = await _template(call, used) if is_admin else None
    return {"name": used.name, "version": used.version, "text": text}


async def _template(call: Call, used: UsedPrompt) -> str | None:
    """None of a version that is there no more."""
    prompt = shipped().get(used.name)
    if prompt is not None and prompt.version == used.version:
        return prompt.template
    return await call.house.services.store.prompts.template(used.name, used.version)

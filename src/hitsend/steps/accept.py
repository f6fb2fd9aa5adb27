"""Step 5. From here on it is ours: the message is stored before anyone hears of it."""

from hitsend.crash import crash_here
from hitsend.engine import Prompt
from hitsend.events import AnyEvent, MessageAdded, PromptWarmed, TitleChosen, TurnAccepted
from hitsend.messages import Seen
from hitsend.send import Turn, Warmth
from hitsend.store import NewTurn, Store
from hitsend.titles import title_from


async def accept(
    turn: Turn, prompt: Prompt, seen: Seen | None, store: Store
) -> tuple[int, list[AnyEvent]]:
    """How many tokens the answer may have: as many as the window and the person have left."""
    title = title_from(turn.send.text) if turn.is_first else ""
    num_granted = await store.turns.accept(_new_turn(turn, prompt, seen, title))
    crash_here("accepted")
    events: list[AnyEvent] = [TurnAccepted()]
    if (warmth := turn.send.warmth) and _is_begun(prompt, warmth):
        events.append(PromptWarmed(warmth.is_whole, len(warmth.ids), warmth.read_ms))
    if turn.said and turn.send.message_id:
        events.append(MessageAdded(turn.send.message_id, turn.send.parent_id, turn.said))
    if title:
        events.append(TitleChosen(title, revision=1))
    return num_granted, events


def _is_begun(prompt: Prompt, warmth: Warmth) -> bool:
    """Whether this is what was read ahead, and not something of another conversation."""
    return prompt.model == warmth.model and prompt.ids[: len(warmth.ids)] == warmth.ids


def _new_turn(turn: Turn, prompt: Prompt, seen: Seen | None, title: str) -> NewTurn:
    return NewTurn(
        turn_id=turn.turn_id,
        user_id=turn.send.user_id,
        conversation_id=turn.conversation_id or None,
        creates_conversation=turn.is_first and not turn.is_api,
        title=title,
        is_temporary=turn.send.is_temporary,
        action=turn.send.action,
        model=turn.model,
        message_id=turn.send.message_id if turn.said else None,
        parent_id=turn.send.parent_id,
        parts=turn.said.parts if turn.said else (),
        answer_id=turn.answer_id,
        given=turn.send.given,
        prompts=seen.prompts if seen else (),
        key_id=turn.send.key_id,
        address=turn.send.address,
        num_prompt_tokens=prompt.num_tokens,
        num_answer_tokens=_num_wanted(turn, prompt),
        num_beams=turn.sampling.num_followed,
        created_at=turn.created_at,
        key=turn.send.key,
        fingerprint=turn.send.fingerprint if turn.send.key else "",
    )


def _num_wanted(turn: Turn, prompt: Prompt) -> int:
    left = prompt.num_window_tokens - prompt.num_tokens
    return min(turn.sampling.max_tokens or left, left)

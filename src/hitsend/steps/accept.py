"""Step 7, accept: the message, its turn and an empty answer are stored in one transaction. From
here on nothing is lost."""

from hitsend.crash import crash_here
from hitsend.engine import Prompt
from hitsend.events import AnyEvent, MessageAdded, PromptWarmed, TitleChosen, TurnAccepted
from hitsend.messages import Seen
from hitsend.safety.policy import Screening
from hitsend.send import Turn, WarmPrefix
from hitsend.store import NewTurn, Store
from hitsend.titles import title_from_text

BLOCKED = "Blocked message"
"""The title of a conversation that begins with one: a title is shown where the message is not."""


async def accept(
    turn: Turn,
    prompt: Prompt | None,
    seen: Seen | None,
    store: Store,
    screening: Screening | None = None,
) -> tuple[int, list[AnyEvent]]:
    """Returns how many tokens the answer may have (what the window and the person have left), and
    the events of the acceptance. A blocked message has no prompt, and gives no title."""
    title = title_from_text(turn.send.text if prompt else BLOCKED) if turn.is_first else ""
    num_granted = await store.turns.accept(_new_turn(turn, prompt, seen, title, screening))
    crash_here("accepted")
    events: list[AnyEvent] = [TurnAccepted()]
    if prompt and (warm := turn.send.warm_prefix) and _starts_with(prompt, warm):
        events.append(_prompt_warmed(warm))
    if turn.user_message and turn.send.message_id:
        events.append(MessageAdded(turn.send.message_id, turn.send.parent_id, turn.user_message))
    if title:
        events.append(TitleChosen(title, revision=1))
    return num_granted, events


def _prompt_warmed(warm: WarmPrefix) -> PromptWarmed:
    return PromptWarmed(warm.is_whole, len(warm.ids), warm.read_ms, warm.num_new_tokens)


def _starts_with(prompt: Prompt, warm: WarmPrefix) -> bool:
    """Whether the prompt begins with what was prefilled, and not another conversation."""
    return prompt.model == warm.model and prompt.ids[: len(warm.ids)] == warm.ids


def _new_turn(
    turn: Turn, prompt: Prompt | None, seen: Seen | None, title: str, screening: Screening | None
) -> NewTurn:
    return NewTurn(
        turn_id=turn.turn_id,
        user_id=turn.send.user_id,
        conversation_id=turn.conversation_id or None,
        creates_conversation=turn.is_first and not turn.is_api,
        title=title,
        is_temporary=turn.send.is_temporary,
        action=turn.send.action,
        model=turn.model,
        message_id=turn.send.message_id if turn.user_message else None,
        parent_id=turn.send.parent_id,
        parts=turn.user_message.parts if turn.user_message else (),
        answer_id=turn.answer_id,
        given=turn.send.given,
        prompts=seen.prompts if seen else (),
        key_id=turn.send.key_id,
        address=turn.send.address,
        num_prompt_tokens=prompt.num_tokens if prompt else 0,
        num_answer_tokens=_num_wanted(turn, prompt) if prompt else 0,
        num_beams=turn.sampling.num_hypotheses,
        created_at=turn.created_at,
        key=turn.send.key,
        fingerprint=turn.fingerprint,
        screening=screening,
    )


def _num_wanted(turn: Turn, prompt: Prompt) -> int:
    left = prompt.num_window_tokens - prompt.num_tokens
    return min(turn.sampling.max_tokens or left, left)

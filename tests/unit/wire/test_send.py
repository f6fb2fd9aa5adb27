from typing import Any

import msgspec
import pytest

from hitsend.errors import Refused, TooLarge
from hitsend.messages import Sampling
from hitsend.send import Send
from hitsend.wire.body import decode_body
from hitsend.wire.send import SendBody, parse_send

ID = "a2d7c1b4-9e8f-4d6a-b5c3-7f8e9d0c1b03"
PARENT = "d5c4b3a2-1e0f-4b9a-86c7-4d5e6f7a8b05"
MOST_CHARS = 100
CONVERSATION = "0b9e4f6e-3c55-4f7c-8f5a-6a1d2c3b4e02"


def message(*parts: str, **changes: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": parts}
    return {"id": ID, "author": {"role": "user"}, "content": content} | changes


def body(**changes: Any) -> dict[str, Any]:
    return {"action": "next", "messages": [message("Hello")]} | changes


def parsed(body: dict[str, Any]) -> Send:
    return parse_send(decode_body(msgspec.json.encode(body), SendBody), "ada", MOST_CHARS)


def test_a_first_message_begins_a_conversation() -> None:
    asked = parsed(body(parent_message_id="client-created-root"))
    assert (asked.conversation_id, asked.parent_id) == (None, None)
    assert (asked.message_id, asked.text, asked.model) == (ID, "Hello", "auto")


def test_a_message_has_the_parent_it_names() -> None:
    asked = parsed(body(conversation_id=CONVERSATION, parent_message_id=PARENT))
    assert (asked.conversation_id, asked.parent_id) == (CONVERSATION, PARENT)


def test_every_field_of_the_web_client_is_accepted() -> None:
    sent = message("a", "b", create_time=1760000000.5, metadata={"submission_mode": "manual_send"})
    asked = parsed(
        body(
            messages=[sent],
            model="smollm2-135m",
            sampling={"temperature": 0.5, "seed": 3},
            supported_encodings=["v1"],
            supports_buffering=True,
            client_prepare_state="none",
            system_hints=[],
            timezone="Europe/Berlin",
            timezone_offset_min=-60,
            history_and_training_disabled=False,
            conversation_mode={"kind": "primary_assistant"},
        )
    )
    assert asked.text == "a\nb"
    assert asked.sampling == Sampling(temperature=0.5, seed=3)


def test_only_a_new_conversation_becomes_a_temporary_one() -> None:
    assert parsed(body(history_and_training_disabled=True)).is_temporary
    assert not parsed(body()).is_temporary
    later = body(history_and_training_disabled=True, conversation_id=CONVERSATION)
    assert not parsed(later | {"parent_message_id": ID}).is_temporary


def test_a_variant_names_the_message_to_answer_again() -> None:
    asked = parsed({"action": "variant", "parent_message_id": ID, "conversation_id": CONVERSATION})
    assert (asked.action, asked.parent_id) == ("variant", ID)
    assert (asked.message_id, asked.text) == (None, "")


def test_continue_names_the_answer_to_continue() -> None:
    asked = parsed({"action": "continue", "parent_message_id": ID, "conversation_id": CONVERSATION})
    assert (asked.action, asked.parent_id, asked.message_id) == ("continue", ID, None)


@pytest.mark.parametrize(
    ("sent", "param"),
    [
        (body(messages=[]), "messages"),
        (body(messages=[message("a"), message("b")]), "messages"),
        (body(action="variant"), "messages"),
        (body(action="continue"), "messages"),
        (body(action="go on"), "action"),
        (body(messages=[message()]), "messages[0].content.parts"),
        (body(messages=[message(" \n", "\t")]), "messages[0].content.parts"),
        (body(messages=[message("a", id="1")]), "messages[0].id"),
        (body(messages=[message("a", id=ID.upper())]), "messages[0].id"),
        (body(messages=[message("a", id=ID.replace("-", ""))]), "messages[0].id"),
        (body(messages=[message("a", id=ID + "\n")]), "messages[0].id"),
        (body(messages=[message("a", author={"role": "system"})]), "messages[0].author.role"),
        (body(conversation_id=""), "conversation_id"),
        (body(conversation_id="../x"), "conversation_id"),
        (body(parent_message_id="root"), "parent_message_id"),
        (body(sampling={"temperature": 3}), "sampling.temperature"),
        (body(sampling={"heat": 1}), "sampling"),
        (body(gizmo_id="x"), None),
        ({}, None),
    ],
)
def test_an_invalid_field_is_refused_by_name(sent: dict[str, Any], param: str | None) -> None:
    with pytest.raises(Refused) as refusal:
        parsed(sent)
    assert refusal.value.param == param


def test_a_message_of_only_white_space_is_refused() -> None:
    with pytest.raises(Refused, match="There is nothing to send"):
        parsed(body(messages=[message("  ")]))


def test_the_length_limit_counts_the_text_before_canonicalization() -> None:
    assert parsed(body(messages=[message("a" * MOST_CHARS)])).text
    with pytest.raises(TooLarge, match="102 characters"):
        parsed(body(messages=[message("a\u200b" * 51)]))

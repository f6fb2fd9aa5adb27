"""The body of a Send, by the names ChatGPT's web client gives them, and what it asks for."""

import re
from typing import Any, Literal

import msgspec

from hitsend.canonical import canonical
from hitsend.errors import Refused
from hitsend.events import Action
from hitsend.messages import Sampling
from hitsend.send import Send, check_length

ROOT = "client-created-root"
"""The parent of the first message of a conversation."""


class Author(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    role: Literal["user"]
    name: str | None = None
    metadata: dict[str, Any] = {}


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    content_type: Literal["text"]
    parts: tuple[str, ...]


class SentMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    author: Author
    content: Content
    create_time: float | None = None
    metadata: dict[str, Any] = {}


class Mode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["primary_assistant"]


class SendBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    action: Action
    messages: tuple[SentMessage, ...] = ()
    conversation_id: str | None = None
    parent_message_id: str = ROOT
    model: str = "auto"
    sampling: Sampling = Sampling()
    supported_encodings: tuple[str, ...] = ()
    history_and_training_disabled: bool = False
    """Begins a temporary conversation. One that was begun stays what it is."""
    conversation_mode: Mode | None = None
    client_prepare_state: str | None = None
    supports_buffering: bool = False
    system_hints: tuple[str, ...] = ()
    timezone: str | None = None
    timezone_offset_min: int | None = None


def parse_send(body: SendBody, user_id: str, most_chars: int, key: str | None = None) -> Send:
    """`key` is what the sender calls it by. Without one a new message goes by its own id.

    NOTE: a text of `most_chars` may take a second, so that this belongs into a thread."""
    said = _said(body)
    return Send(
        user_id=user_id,
        action=body.action,
        conversation_id=_uuid_or(None, body.conversation_id, "conversation_id"),
        parent_id=_uuid_or(ROOT, body.parent_message_id, "parent_message_id"),
        is_temporary=body.history_and_training_disabled and body.conversation_id is None,
        message_id=_uuid(said.id, "messages[0].id") if said else None,
        text=_text(said, most_chars) if said else "",
        model=body.model,
        sampling=body.sampling,
        key=_key(body, said, key),
    )


def _key(body: SendBody, said: SentMessage | None, given: str | None) -> str | None:
    if given is None and said is not None:
        given = f"{body.conversation_id or 'new'}:{said.id}"
    return f"chat:{given}" if given is not None else None


def _said(body: SendBody) -> SentMessage | None:
    if body.action != "next":
        if body.messages:
            raise Refused(f"The action {body.action} brings no new message.", param="messages")
        return None
    if len(body.messages) != 1:
        raise Refused("Send exactly one message.", param="messages")
    return body.messages[0]


def _text(said: SentMessage, most_chars: int) -> str:
    """Already as it will be stored: its fingerprint, its weight and its title are taken of that."""
    written = "\n".join(said.content.parts)
    check_length(written, most_chars)
    text = canonical(written)
    if not text.strip():
        raise Refused("There is nothing to send.", param="messages[0].content.parts")
    return text


def _uuid_or(nothing: str | None, value: str | None, param: str) -> str | None:
    return None if value is None or value == nothing else _uuid(value, param)


def _uuid(value: str, param: str) -> str:
    if not UUID.fullmatch(value):
        raise Refused(f"{param} has to be a UUID, in lower case and with hyphens.", param=param)
    return value


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

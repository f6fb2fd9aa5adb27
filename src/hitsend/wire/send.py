"""The HTTP body of a Send, in the field names of ChatGPT's web client, and how it is parsed.

Bodies refuse unknown fields and omit defaults, so that an older server takes a newer client's.
"""

import re
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hitsend.canonical import canonicalize
from hitsend.errors import Refused
from hitsend.events import Action
from hitsend.messages import Attachment, Sampling
from hitsend.send import CallVerdict, Send, check_length

ROOT = "client-created-root"
"""The parent of the first message of a conversation."""


MAX_ATTACHMENTS = 10

Feature: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100)]


class SendBodyAuthor(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    role: Literal["user"]
    name: str | None = None
    metadata: dict[str, Any] = {}


class SendBodyContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    content_type: Literal["text"]
    parts: tuple[str, ...]


class SendBodyAttachment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A resource of an MCP server, as the person saw it."""

    title: Annotated[str, Meta(max_length=200)]
    server: Annotated[str, Meta(max_length=80)]
    uri: Annotated[str, Meta(max_length=2_000)]
    text: Annotated[str, Meta(min_length=1)]


class SendBodyMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    author: SendBodyAuthor
    content: SendBodyContent
    create_time: float | None = None
    metadata: dict[str, Any] = {}
    attachments: Annotated[tuple[SendBodyAttachment, ...], Meta(max_length=MAX_ATTACHMENTS)] = ()


class ConversationMode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["primary_assistant"]


class SendBody(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    action: Action
    messages: tuple[SendBodyMessage, ...] = ()
    conversation_id: str | None = None
    parent_message_id: str = ROOT
    model: str = "auto"
    sampling: Sampling = Sampling()
    supported_encodings: tuple[str, ...] = ()
    history_and_training_disabled: bool = False
    """Makes a new conversation temporary. Has no effect on an existing one."""
    conversation_mode: ConversationMode | None = None
    client_prepare_state: str | None = None
    supports_buffering: bool = False
    system_hints: Annotated[tuple[Feature, ...], Meta(max_length=32)] | None = None
    """The features to use, such as `web`. Unless they are given, an answer that is asked for again
    or continued uses those of its turn, and a new message uses none."""
    verdicts: Annotated[tuple[CallVerdict, ...], Meta(max_length=32)] = ()
    """With the action `continue`: decisions about calls of tools that wait for the person. The
    parent is the newest message of such a call."""
    timezone: str | None = None
    timezone_offset_min: int | None = None


def parse_send(body: SendBody, user_id: str, most_chars: int, key: str | None = None) -> Send:
    """`key` is the client's idempotency key. Without one, a new message's id is the key.

    NOTE: a text of `most_chars` may take a second; call this in a thread."""
    message = _get_new_message(body)
    if body.verdicts and body.action != "continue":
        raise Refused("Only `continue` takes verdicts.", param="verdicts")
    return Send(
        user_id=user_id,
        action=body.action,
        conversation_id=_parse_optional_uuid(None, body.conversation_id, "conversation_id"),
        parent_id=_parse_optional_uuid(ROOT, body.parent_message_id, "parent_message_id"),
        is_temporary=body.history_and_training_disabled and body.conversation_id is None,
        message_id=_parse_uuid(message.id, "messages[0].id") if message else None,
        text=_parse_text(message, most_chars) if message else "",
        attachments=_parse_attachments(message, most_chars) if message else UNSET,
        model=body.model,
        sampling=body.sampling,
        features=_parse_features(body),
        verdicts=body.verdicts or UNSET,
        time_zone=body.timezone or UNSET,
        key=_idempotency_key(body, message, key),
    )


def _parse_features(body: SendBody) -> tuple[str, ...] | UnsetType:
    if body.system_hints is None or (body.action == "next" and not body.system_hints):
        return UNSET
    return tuple(dict.fromkeys(body.system_hints))


def _idempotency_key(
    body: SendBody, message: SendBodyMessage | None, key: str | None
) -> str | None:
    if key is None and message is not None:
        key = f"{body.conversation_id or 'new'}:{message.id}"
    return f"chat:{key}" if key is not None else None


def _get_new_message(body: SendBody) -> SendBodyMessage | None:
    if body.action != "next":
        if body.messages:
            raise Refused(f"The action {body.action} takes no new message.", param="messages")
        return None
    if len(body.messages) != 1:
        raise Refused("Send exactly one message.", param="messages")
    return body.messages[0]


def _parse_text(message: SendBodyMessage, most_chars: int) -> str:
    """Returns the canonical text, which is stored, hashed, counted and titled."""
    original = "\n".join(message.content.parts)
    check_length(len(original), most_chars)
    text = canonicalize(original)
    if not text.strip():
        raise Refused("There is nothing to send.", param="messages[0].content.parts")
    return text


def _parse_attachments(
    message: SendBodyMessage, most_chars: int
) -> tuple[Attachment, ...] | UnsetType:
    """They share the limit with the text."""
    num_chars = sum(len(one.text) for one in message.attachments)
    check_length(num_chars + sum(map(len, message.content.parts)), most_chars)
    return tuple(map(_parse_attachment, message.attachments)) or UNSET


def _parse_attachment(body: SendBodyAttachment) -> Attachment:
    title, server, uri = (
        " ".join(canonicalize(one).split()) for one in (body.title, body.server, body.uri)
    )
    return Attachment(title, server, uri, canonicalize(body.text))


def _parse_optional_uuid(none_value: str | None, value: str | None, param: str) -> str | None:
    return None if value is None or value == none_value else _parse_uuid(value, param)


def _parse_uuid(value: str, param: str) -> str:
    if not UUID.fullmatch(value):
        raise Refused(f"{param} has to be a UUID, in lower case and with hyphens.", param=param)
    return value


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

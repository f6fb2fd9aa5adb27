"""Tokenizes a text or a conversation. Nothing is stored, and no model is loaded for it."""

import asyncio
from base64 import b64encode
from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.canonical import canonicalize
from hitsend.engine import TokenizedText
from hitsend.errors import NotFound, Refused
from hitsend.events import Span
from hitsend.send import Send
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.edge.until_disconnect import run_until_disconnect
from hitsend.server.redact import visible_tokens
from hitsend.server.turns.prewarm import PLACEHOLDER, stable_prefix
from hitsend.turn import preview_prompt

MAX_CHARS = 200_000
MAX_BYTES = 12 * MAX_CHARS + 4096
"""JSON takes up to twelve bytes per character."""
HIDDEN = -1


class TokenizeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Either a text, or a conversation up to one of its messages."""

    model: str = "auto"
    text: Annotated[str, Meta(max_length=MAX_CHARS)] | None = None
    conversation_id: str | None = None
    message_id: str | None = None
    """The last message to include; by default the conversation's current one."""


class Tokenized(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    num_tokens: int
    num_characters: int
    num_bytes: int
    ids: tuple[int, ...]
    """`HIDDEN` for a redacted token, whose piece and bytes are None."""
    pieces: tuple[str | None, ...]
    """The text of each token; None if it is not whole characters."""
    bytes: tuple[str | None, ...]
    """The bytes of those, in Base64."""
    spans: tuple[Span, ...]
    """The sources of the tokens, in order."""


@endpoint("POST", "/backend-api/tokenize", Access.READ)
async def tokenize(call: Call) -> Response:
    """Tokenize a text, or a conversation as the model would read it."""
    body = await call.read_body(TokenizeBody, MAX_BYTES)
    if (body.text is None) == (body.conversation_id is None):
        raise Refused("Send either `text` or `conversation_id`.", param="text")
    tokenized = await run_until_disconnect(call.request, _tokenize(call, body))
    return await asyncio.to_thread(json_response, tokenized)


async def _tokenize(call: Call, body: TokenizeBody) -> Tokenized:
    """One request at a time per user: the page asks again with each keystroke."""
    async with call.app.prepare_locks.lock(call.user_id):
        await call.app.services.engine.require_ready(body.model)
        if body.text is not None:
            return await _tokenize_text(call, body.model, body.text)
        return await _tokenize_conversation(call, body)


async def _tokenize_text(call: Call, name: str, text: str) -> Tokenized:
    engine = call.app.services.engine
    model = await engine.resolve(name)
    tokens = await engine.tokenize(model.name, await asyncio.to_thread(canonicalize, text))
    spans = (Span("user", 0, len(tokens.ids)),) if tokens.ids else ()
    return await asyncio.to_thread(describe_tokens, model.name, tokens, spans)


async def _tokenize_conversation(call: Call, body: TokenizeBody) -> Tokenized:
    """After a question, the prompt ends where the answer begins; after an answer, where the next
    message begins."""
    send = await _build_send(call, body)
    prompt, _ = await preview_prompt(send, call.app.services)
    pieces = await call.app.services.engine.detokenize(prompt)
    if send.action == "next":
        prompt = stable_prefix(prompt) or prompt
    tokens = TokenizedText(prompt.ids, tuple(pieces[: len(prompt.ids)]))
    sees_all = call.identity.user.role == "admin"
    return await asyncio.to_thread(
        describe_tokens, prompt.model, tokens, prompt.spans, sees_all=sees_all
    )


async def _build_send(call: Call, body: TokenizeBody) -> Send:
    """Builds the Send whose prompt ends with the body's message."""
    store, conversation_id = call.app.services.store, body.conversation_id or ""
    leaf_id = body.message_id
    if leaf_id is None:
        leaf_id = (await store.conversations.get(conversation_id, call.user_id)).current_node
    if leaf_id is None:
        raise NotFound("This conversation has no messages yet.", param="conversation_id")
    leaf = (await store.conversations.path(conversation_id, call.user_id, leaf_id))[-1]
    send = Send(
        user_id=call.user_id,
        model=body.model,
        conversation_id=conversation_id,
        parent_id=leaf_id,
        key_id=call.identity.key_id,
    )
    if leaf.role == "user":
        return msgspec.structs.replace(send, action="variant")
    return msgspec.structs.replace(send, text=PLACEHOLDER, message_id=str(uuid4()))


def describe_tokens(
    model: str, tokens: TokenizedText, spans: tuple[Span, ...], *, sees_all: bool = True
) -> Tokenized:
    """Call it in a thread: a long text takes a while."""
    whole = b"".join(tokens.pieces)
    ids, pieces = tokens.ids, tuple[bytes | None, ...](tokens.pieces)
    if not sees_all:
        visible = list(visible_tokens(tokens.pieces, spans))
        ids = tuple(i if seen else HIDDEN for i, seen in zip(ids, visible, strict=True))
        pieces = tuple(p if seen else None for p, seen in zip(pieces, visible, strict=True))
    texts = {piece: _text_or_base64(piece) for piece in set(pieces)}
    return Tokenized(
        model=model,
        num_tokens=len(ids),
        num_characters=len(whole.decode(errors="replace")),
        num_bytes=len(whole),
        ids=ids,
        pieces=tuple(texts[piece][0] for piece in pieces),
        bytes=tuple(texts[piece][1] for piece in pieces),
        spans=spans,
    )


def _text_or_base64(piece: bytes | None) -> tuple[str | None, str | None]:
    """Returns the text, or Base64 if the bytes are not whole characters."""
    if piece is None:
        return None, None
    try:
        return piece.decode(), None
    except UnicodeDecodeError:
        return None, b64encode(piece).decode()

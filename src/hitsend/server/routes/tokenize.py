"""Text, or a whole conversation, in a model's own tokens. Nothing is stored, sent or loaded."""

import asyncio
from base64 import b64encode
from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.canonical import canonical
from hitsend.engine import Pieces
from hitsend.errors import NotFound, Refused
from hitsend.events import Span
from hitsend.send import Send
from hitsend.server.blanking import can_be_seen
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.presence import while_there
from hitsend.server.warming import SOME_TEXT, stable_prefix
from hitsend.turn import weigh

MOST_CHARS = 200_000
MOST_BYTES = 12 * MOST_CHARS + 4096
"""JSON may take twelve bytes to write a character."""
UNSEEN = -1


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Either a text, or a conversation up to one of its messages."""

    model: str = "auto"
    text: Annotated[str, Meta(max_length=MOST_CHARS)] | None = None
    conversation_id: str | None = None
    message_id: str | None = None
    """The last message that counts. Without one it is the last that was shown."""


class Tokenized(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    num_tokens: int
    num_characters: int
    num_bytes: int
    ids: tuple[int, ...]
    """`UNSEEN` where the asker may not see what the token says: then neither of these tells it."""
    pieces: tuple[str | None, ...]
    """What each token says; none where it is not whole characters."""
    bytes: tuple[str | None, ...]
    """Of those, what it stands for, in Base64."""
    spans: tuple[Span, ...]
    """Which source each of the tokens came from, in their order."""


@endpoint("POST", "/backend-api/tokenize", Access.PERSON)
async def tokenize(call: Call) -> Response:
    """A text, or a conversation as the model would read it, in its own tokens."""
    asked = await call.body(Asked, MOST_BYTES)
    if (asked.text is None) == (asked.conversation_id is None):
        raise Refused("Send either `text` or `conversation_id`.", param="text")
    tokenized = await while_there(call.request, _tokenized(call, asked))
    return await asyncio.to_thread(answer, tokenized)


async def _tokenized(call: Call, asked: Asked) -> Tokenized:
    """One at a time for each person: whoever types asks again and again."""
    async with call.house.weighing.one_of(call.user_id):
        await call.house.services.engine.require_ready(asked.model)
        if asked.text is not None:
            return await _text(call, asked.model, asked.text)
        return await _conversation(call, asked)


async def _text(call: Call, name: str, text: str) -> Tokenized:
    engine = call.house.services.engine
    model = await engine.resolve(name)
    found = await engine.tokenize(model.name, await asyncio.to_thread(canonical, text))
    spans = (Span("user", 0, len(found.ids)),) if found.ids else ()
    return await asyncio.to_thread(told, model.name, found, spans)


async def _conversation(call: Call, asked: Asked) -> Tokenized:
    """All of it up to a question, ready for the answer; or up to an answer, ready for what is
    said next."""
    send = await _send(call, asked)
    prompt, _ = await weigh(send, call.house.services)
    pieces = await call.house.services.engine.spell(prompt)
    if send.action == "next":
        prompt = stable_prefix(prompt) or prompt
    read = Pieces(prompt.ids, tuple(pieces[: len(prompt.ids)]))
    is_admin = call.person.user.role == "admin"
    return await asyncio.to_thread(told, prompt.model, read, prompt.spans, sees_all=is_admin)


async def _send(call: Call, asked: Asked) -> Send:
    """What would have the model read just that."""
    store, conversation_id = call.house.services.store, asked.conversation_id or ""
    leaf_id = asked.message_id
    if leaf_id is None:
        leaf_id = (await store.conversations.get(conversation_id, call.user_id)).current_node
    if leaf_id is None:
        raise NotFound("Nothing was said in this conversation yet.", param="conversation_id")
    leaf = (await store.conversations.path(conversation_id, call.user_id, leaf_id))[-1]
    asking = Send(
        user_id=call.user_id,
        model=asked.model,
        conversation_id=conversation_id,
        parent_id=leaf_id,
        key_id=call.person.key_id,
    )
    if leaf.role == "user":
        return msgspec.structs.replace(asking, action="variant")
    return msgspec.structs.replace(asking, text=SOME_TEXT, message_id=str(uuid4()))


def told(model: str, read: Pieces, spans: tuple[Span, ...], *, sees_all: bool = True) -> Tokenized:
    """Of a long text it takes a while: not on the event loop."""
    whole = b"".join(read.pieces)
    ids, pieces = read.ids, tuple[bytes | None, ...](read.pieces)
    if not sees_all:
        seen = list(can_be_seen(read.pieces, spans))
        ids = tuple(one if is_seen else UNSEEN for one, is_seen in zip(ids, seen, strict=True))
        pieces = tuple(one if is_seen else None for one, is_seen in zip(pieces, seen, strict=True))
    said = {piece: _said(piece) for piece in set(pieces)}
    return Tokenized(
        model=model,
        num_tokens=len(ids),
        num_characters=len(whole.decode(errors="replace")),
        num_bytes=len(whole),
        ids=ids,
        pieces=tuple(said[piece][0] for piece in pieces),
        bytes=tuple(said[piece][1] for piece in pieces),
        spans=spans,
    )


def _said(piece: bytes | None) -> tuple[str | None, str | None]:
    """As text, or where it is not whole characters in Base64."""
    if piece is None:
        return None, None
    try:
        return piece.decode(), None
    except UnicodeDecodeError:
        return None, b64encode(piece).decode()

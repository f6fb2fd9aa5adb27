"""Text, or a whole conversation, in a model's own tokens. Nothing is stored, sent or loaded."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated
from uuid import uuid4

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.canonical import canonical
from hitsend.errors import NotFound, Refused
from hitsend.events import Span
from hitsend.send import Send
from hitsend.server.calls import Access, Call, answer, endpoint
from hitsend.server.presence import while_there
from hitsend.server.warming import SOME_TEXT, stable_prefix
from hitsend.turn import weigh

MOST_CHARS = 200_000
MOST_BYTES = 12 * MOST_CHARS + 4096
"""JSON may take twelve bytes to write a character."""


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
    return answer(await while_there(call.request, _tokenized(call, asked)))


async def _tokenized(call: Call, asked: Asked) -> Tokenized:
    """One at a time for each person: whoever types asks again and again."""
    async with call.house.weighing.one_of(call.user_id):
        await call.house.services.engine.require_ready(asked.model)
        if asked.text is not None:
            return await _text(call, asked.model, canonical(asked.text))
        return await _conversation(call, asked)


async def _text(call: Call, name: str, text: str) -> Tokenized:
    engine = call.house.services.engine
    model = await engine.resolve(name)
    found = await engine.tokenize(model.name, text)
    spans = (Span("user", 0, len(found.ids)),) if found.ids else ()
    return told(model.name, found.ids, found.pieces, spans)


async def _conversation(call: Call, asked: Asked) -> Tokenized:
    """All of it up to a question, ready for the answer; or up to an answer, ready for what is
    said next."""
    send = await _send(call, asked)
    prompt, _ = await weigh(send, call.house.services)
    pieces = await call.house.services.engine.spell(prompt)
    if send.action == "next":
        prompt = stable_prefix(prompt) or prompt
    return told(prompt.model, prompt.ids, pieces[: len(prompt.ids)], prompt.spans)


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
    )
    if leaf.role == "user":
        return msgspec.structs.replace(asking, action="variant")
    return msgspec.structs.replace(asking, text=SOME_TEXT, message_id=str(uuid4()))


def told(
    model: str, ids: tuple[int, ...], pieces: Sequence[bytes], spans: tuple[Span, ...]
) -> Tokenized:
    whole = b"".join(pieces)
    texts = [_characters(piece) for piece in pieces]
    return Tokenized(
        model=model,
        num_tokens=len(ids),
        num_characters=len(whole.decode(errors="replace")),
        num_bytes=len(whole),
        ids=ids,
        pieces=tuple(texts),
        bytes=tuple(
            None if text is not None else b64encode(piece).decode()
            for text, piece in zip(texts, pieces, strict=True)
        ),
        spans=spans,
    )


def _characters(piece: bytes) -> str | None:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None

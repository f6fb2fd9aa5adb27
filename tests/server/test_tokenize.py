"""Tokenizing texts and conversations, and the normalization of messages."""

import asyncio
import time
from base64 import b64decode
from collections.abc import Awaitable
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.server.world import Someone, World, message, open_world

from hitsend.canonical import canonicalize
from hitsend.engine import ScriptedEngine, TokenizedText
from hitsend.errors import EngineDown, Refused
from hitsend.server.routes.tokenize import HIDDEN, MAX_CHARS, describe_tokens
from hitsend.settings import Settings

TOKENIZE = "/backend-api/tokenize"


async def tokenize_text(person: Someone, **body: Any) -> dict[str, Any]:
    response = await person.http.post(TOKENIZE, json=body)
    assert response.status_code == 200, response.text
    said: dict[str, Any] = response.json()
    return said


def text_of(said: dict[str, Any]) -> str:
    return "".join(piece or "" for piece in said["pieces"])


class Bytes(ScriptedEngine):
    """Splits every character."""

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        pieces = tuple(bytes([one]) for one in text.encode())
        return TokenizedText(tuple(text.encode()), pieces)


class NoTokenizer(ScriptedEngine):
    async def tokenize(self, model: str, text: str) -> TokenizedText:
        raise Refused("It does not say how it splits text.")


class Unloaded(ScriptedEngine):
    async def require_ready(self, name: str) -> None:
        raise EngineDown("It is not loaded.")


async def test_a_text_becomes_ids_and_pieces(world: World) -> None:
    said = await tokenize_text(await world.someone("ada"), text="Hello there 😀")
    assert said["pieces"] == ["Hello", " there", " 😀"]
    assert said["bytes"] == [None] * 3
    assert len(said["ids"]) == said["num_tokens"] == 3
    assert (said["num_characters"], said["num_bytes"]) == (13, 16)
    assert said["model"] == "scripted"
    assert said["spans"] == [["user", 0, 3]]


async def test_no_text_has_no_tokens(world: World) -> None:
    said = await tokenize_text(await world.someone("ada"), text="")
    assert (said["num_tokens"], said["ids"], said["spans"]) == (0, [], [])


async def test_a_token_of_partial_characters_is_returned_as_bytes(settings: Settings) -> None:
    async with open_world(settings, Bytes()) as world:
        said = await tokenize_text(await world.someone("ada"), text="aé")
    assert said["pieces"] == ["a", None, None]
    assert [one and b64decode(one) for one in said["bytes"]] == [None, b"\xc3", b"\xa9"]
    assert (said["num_tokens"], said["num_characters"], said["num_bytes"]) == (3, 2, 3)


@given(st.text(), st.lists(st.integers(0, 40)))
def test_pieces_and_bytes_join_to_the_whole_text(text: str, cuts: list[int]) -> None:
    content = text.encode()
    edges = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    pieces = [content[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    said = describe_tokens("model", TokenizedText(tuple(range(len(pieces))), tuple(pieces)), ())
    whole = [
        piece.encode() if piece is not None else b64decode(raw or "")
        for piece, raw in zip(said.pieces, said.bytes, strict=True)
    ]
    assert b"".join(whole) == content
    assert (said.num_characters, said.num_bytes) == (len(text), len(content))


async def test_a_conversation_is_tokenized_as_the_model_will_read_it(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nFine, thanks")
    said = await tokenize_text(ada, conversation_id=stream.conversation_id)
    whole = text_of(said)
    assert "!script\nFine, thanks<|end|><|assistant|>Fine, thanks<|end|><|user|>" in whole
    assert whole.endswith("<|user|>")
    sources = [source for source, _, _ in said["spans"]]
    assert sources.count("history") == 2
    assert sum(num_tokens for _, _, num_tokens in said["spans"]) == said["num_tokens"]


async def test_a_conversation_up_to_a_question_is_the_prompt_of_its_answer(
    world: World,
) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nFine")
    question_id = stream.of_type("input_message")["input_message"]["id"]
    said = await tokenize_text(ada, conversation_id=stream.conversation_id, message_id=question_id)
    assert text_of(said).endswith("!script\nFine<|end|><|assistant|>")
    looked = await ada.http.get(f"/backend-api/turn/{stream.turn_id}")
    encoded = next(e for e in looked.json()["events"] if e["event"]["type"] == "PromptEncoded")
    assert encoded["event"]["num_tokens"] == said["num_tokens"]


async def test_only_administrators_see_the_tokens_of_prompts(
    settings: Settings,
) -> None:
    async with open_world(replace(settings, instructions="Be brief."), ScriptedEngine()) as world:
        ada, root = await world.someone("ada"), await world.someone("root", "admin")
        for one in (ada, root):
            await world.app.services.store.memories.add(one.user_id, "I love peanuts.", "written")
            stream = await one.send("!script\nFine\nDo I love peanuts?")
            said = await tokenize_text(one, conversation_id=stream.conversation_id)
            hidden = [at for at, token_id in enumerate(said["ids"]) if token_id == HIDDEN]
            has_all = one is root
            assert ("Be brief." in text_of(said)) == has_all
            assert ("What the person asked" in text_of(said)) == has_all
            assert "love peanuts." in text_of(said)
            assert {said["pieces"][at] or said["bytes"][at] for at in hidden} <= {None}
            assert bool(hidden) != has_all
            assert len(said["ids"]) == said["num_tokens"]


class Instant(ScriptedEngine):
    """Tokenizes any text in no time."""

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        return TokenizedText((1,), (b"a",))


async def longest_step_s(asking: Awaitable[Any]) -> float:
    """Returns the CPU time for which the event loop was blocked."""
    longest_s, task = 0.0, asyncio.ensure_future(asking)
    while not task.done():
        began = time.thread_time()
        await asyncio.wait([task], timeout=0.001)
        longest_s = max(longest_s, time.thread_time() - began)
    return longest_s


async def test_a_long_text_does_not_block_other_users(settings: Settings) -> None:
    text, began = "क\u200d" * 100_000, time.thread_time()
    canonicalize(text)
    taken_s = time.thread_time() - began
    async with open_world(settings, Instant()) as world:
        http = (await world.someone("ada")).http
        for path, body in {
            TOKENIZE: {"text": text},
            "/backend-api/f/conversation/prepare": message(text),
        }.items():
            assert await longest_step_s(http.post(path, json=body)) < taken_s / 2, path


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"text": "a", "conversation_id": str(uuid4())}, 400),
        ({"text": "x" * (MAX_CHARS + 1)}, 400),
        ({"text": "x" * 3_000_000}, 413),
        ({"text": "a", "model": "nobody"}, 404),
        ({"conversation_id": str(uuid4())}, 404),
        ({"conversation_id": str(uuid4()), "message_id": str(uuid4())}, 404),
    ],
)
async def test_an_invalid_tokenize_request_is_refused(
    world: World, body: dict[str, str], status: int
) -> None:
    ada = await world.someone("ada")
    response = await ada.http.post(TOKENIZE, json=body)
    assert response.status_code == status, response.text[:200]


async def test_an_engine_without_a_tokenizer_is_refused(
    settings: Settings,
) -> None:
    async with open_world(settings, NoTokenizer()) as world:
        response = await (await world.someone("ada")).http.post(TOKENIZE, json={"text": "a"})
    assert response.status_code == 400
    assert "does not say" in response.json()["error"]["message"]


async def test_tokenizing_loads_no_model(settings: Settings) -> None:
    async with open_world(settings, Unloaded()) as world:
        response = await (await world.someone("ada")).http.post(TOKENIZE, json={"text": "a"})
    assert response.status_code == 503


SENT = "Gru\u0308\u00dfe\u200b,\r\npay\u202epal\x07 👩‍👧"
STORED = "Grüße,\npay[U+202E]pal 👩‍👧"


async def test_a_message_is_normalized_the_same_way_everywhere(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send(SENT)
    shown = stream.of_type("input_message")["input_message"]
    tree = await ada.conversation(stream.conversation_id)
    stored = tree["mapping"][shown["id"]]["message"]
    assert shown["content"]["parts"] == stored["content"]["parts"] == [STORED]
    counted = await tokenize_text(ada, text=SENT)
    looked = await ada.http.get(f"/backend-api/turn/{stream.turn_id}")
    encoded = next(e for e in looked.json()["events"] if e["event"]["type"] == "PromptEncoded")
    said = {source: num_tokens for source, _, num_tokens in encoded["event"]["spans"]}
    assert said["user"] == counted["num_tokens"]
    assert "".join(counted["pieces"]) == STORED


async def test_a_message_of_invisible_characters_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    body = {
        "action": "next",
        "messages": [
            {
                "id": str(uuid4()),
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": ["\u200b\ufeff \u2060"]},
            }
        ],
    }
    response = await ada.http.post("/backend-api/f/conversation", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "There is nothing to send."

"""Rating an answer, and finding the rating with it."""

from typing import Any

import pytest
from tests.server.world import Heard, Someone, World


def _path(heard: Heard, message_id: str) -> str:
    return f"/backend-api/conversation/{heard.conversation_id}/messages/{message_id}/feedback"


def _answer_id(heard: Heard) -> str:
    assert heard.answer is not None
    return str(heard.answer["id"])


async def _told(ada: Someone, heard: Heard) -> Any:
    tree = await ada.conversation(heard.conversation_id)
    return tree["mapping"][_answer_id(heard)]["message"]["metadata"].get("feedback")


async def test_a_rating_stays_with_its_answer_until_it_is_taken_back(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    path = _path(heard, _answer_id(heard))
    assert await _told(ada, heard) is None
    assert (await ada.http.put(path, json={"rating": "up"})).status_code == 204
    assert await _told(ada, heard) == {"rating": "up", "reason": None, "text": ""}
    said = {"rating": "down", "reason": "unsafe", "text": "<script>alert(1)</script> é 🐧"}
    assert (await ada.http.put(path, json=said)).status_code == 204
    assert await _told(ada, heard) == said
    assert (await ada.http.delete(path)).status_code == 204
    assert await _told(ada, heard) is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"rating": "sideways"},
        {"rating": "down", "reason": "because"},
        {"rating": "down", "text": "x" * 2001},
        {"rating": "down", "extra": 1},
    ],
)
async def test_what_is_no_rating_is_refused(world: World, body: dict[str, object]) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    refused = await ada.http.put(_path(heard, _answer_id(heard)), json=body)
    assert refused.status_code == 400
    assert await _told(ada, heard) is None


async def test_ones_own_words_cannot_be_rated(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    own = heard.of_type("input_message")["input_message"]["id"]
    refused = await ada.http.put(_path(heard, own), json={"rating": "up"})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "Only an answer can be rated."

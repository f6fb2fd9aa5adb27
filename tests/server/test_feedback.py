"""Rating an answer."""

from typing import Any

import pytest
from tests.server.world import AnswerStream, Someone, World


def _path(stream: AnswerStream, message_id: str) -> str:
    return f"/backend-api/conversation/{stream.conversation_id}/messages/{message_id}/feedback"


def _answer_id(stream: AnswerStream) -> str:
    assert stream.answer is not None
    return str(stream.answer["id"])


async def _get_feedback(ada: Someone, stream: AnswerStream) -> Any:
    tree = await ada.conversation(stream.conversation_id)
    return tree["mapping"][_answer_id(stream)]["message"]["metadata"].get("feedback")


async def test_a_rating_stays_with_its_answer_until_it_is_taken_back(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    path = _path(stream, _answer_id(stream))
    assert await _get_feedback(ada, stream) is None
    assert (await ada.http.put(path, json={"rating": "up"})).status_code == 204
    assert await _get_feedback(ada, stream) == {"rating": "up", "reason": None, "text": ""}
    said = {"rating": "down", "reason": "unsafe", "text": "<script>alert(1)</script> é 🐧"}
    assert (await ada.http.put(path, json=said)).status_code == 204
    assert await _get_feedback(ada, stream) == said
    assert (await ada.http.delete(path)).status_code == 204
    assert await _get_feedback(ada, stream) is None


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
async def test_an_invalid_rating_is_refused(world: World, body: dict[str, object]) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    refused = await ada.http.put(_path(stream, _answer_id(stream)), json=body)
    assert refused.status_code == 400
    assert await _get_feedback(ada, stream) is None


async def test_a_users_own_message_cannot_be_rated(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    own = stream.of_type("input_message")["input_message"]["id"]
    refused = await ada.http.put(_path(stream, own), json={"rating": "up"})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "Only an answer can be rated."

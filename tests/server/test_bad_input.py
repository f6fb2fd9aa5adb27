"""Bad requests are refused at once with a clear error, and nothing is stored."""

from typing import Any
from uuid import uuid4

import httpx2
import msgspec
import pytest
from tests.server.world import Someone, World, message

SEND = "/backend-api/f/conversation"


async def refused(ada: Someone, body: Any, status: int = 400) -> httpx2.Response:
    content = body if isinstance(body, bytes) else None
    response = await ada.http.post(
        SEND,
        content=content,
        json=None if content is not None else body,
        headers={"content-type": "application/json"},
    )
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert response.json()["detail"] == error["message"]
    assert (await ada.http.get("/backend-api/conversations")).json()["total"] == 0
    return response


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"[" * 100_000,
        b'{"action":' + b"9" * 100_000 + b"}",
        b'{"action": NaN}',
        b"\xff\xfe",
        b'{"action":"next","messages":[{"id":"\xed\xa0\x80"}]}',
        b"\x00",
    ],
)
async def test_invalid_json_is_refused(world: World, body: bytes) -> None:
    await refused(await world.someone("ada"), body)


@pytest.mark.parametrize(
    "changes",
    [
        {"action": "dance"},
        {"messages": []},
        {"messages": "hello"},
        {"messages": [1]},
        {"unknown_field": 1},
        {"bypass_system_prompt": True},
        {"parent_message_id": 5},
        {"parent_message_id": "not-a-uuid"},
        {"parent_message_id": str(uuid4())},
        {"conversation_id": "../../etc/passwd"},
        {"model": None},
        {"sampling": {"temperature": 5}},
        {"sampling": {"temperature": "hot"}},
        {"sampling": {"n_discard": -1}},
        {"sampling": {"top_p": 0}},
        {"sampling": {"max_tokens": 0}},
        {"sampling": {"seed": -1}},
        {"sampling": {"stop": [""]}},
        {"action": "variant", "messages": []},
    ],
)
async def test_a_send_of_the_wrong_shape_is_refused(world: World, changes: dict[str, Any]) -> None:
    await refused(await world.someone("ada"), message("hello", **changes))


@pytest.mark.parametrize("text", ["", "   \n\t ", "nul \u0000 inside"])
async def test_an_empty_or_unstorable_message_is_refused(world: World, text: str) -> None:
    await refused(await world.someone("ada"), message(text))


async def test_a_lone_surrogate_is_refused(world: World) -> None:
    body = message("HALF")
    raw = httpx2.Request("POST", "http://x", json=body).read().replace(b"HALF", b"\\ud83d half")
    await refused(await world.someone("ada"), raw)


async def test_an_enormous_body_is_refused_before_it_is_read(world: World) -> None:
    ada = await world.someone("ada")
    most = world.app.services.settings.max_body_bytes
    await refused(ada, message("x" * (most + 1)), 413)

    async def endless() -> Any:
        for _ in range(most // 65_536 + 2):
            yield b" " * 65_536

    chunked = await ada.http.post(
        SEND, content=endless(), headers={"content-type": "application/json"}
    )
    assert chunked.status_code == 413


async def test_an_enormous_message_is_refused_with_its_size(world: World) -> None:
    ada = await world.someone("ada")
    answer = await refused(ada, message("x" * 1_000_001), 413)
    assert "1,000,001" in answer.json()["detail"]


async def test_a_prompt_that_cannot_fit_is_refused_and_not_stored(world: World) -> None:
    ada = await world.someone("ada")
    answer = await refused(ada, message("word " * 50_000))
    assert answer.json()["error"]["code"] == "context_length_exceeded"


async def test_a_model_that_does_not_exist_is_named(world: World) -> None:
    answer = await refused(await world.someone("ada"), message("hi", model="gpt-17"), 404)
    assert answer.json()["error"]["code"] == "model_not_found"
    assert "gpt-17" in answer.json()["detail"]


async def test_an_unknown_conversation_or_parent_and_anothers_are_not_found(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    stream = await ada.send("!script\nhello")
    assert stream.answer
    hers, nobodys = stream.conversation_id, str(uuid4())
    question, answer = stream.messages[0]["id"], stream.answer["id"]
    for shape in (
        {},
        {"parent_message_id": answer},
        {"action": "variant", "messages": [], "parent_message_id": question},
    ):
        not_yours = await refused(eve, message("hi", conversation_id=hers, **shape), 404)
        not_there = await refused(eve, message("hi", conversation_id=nobodys, **shape), 404)
        assert not_yours.json()["error"] == not_there.json()["error"]
    own = await ada.http.post(
        SEND,
        json=message("hi", conversation_id=stream.conversation_id, parent_message_id=str(uuid4())),
    )
    assert own.status_code == 404
    assert len((await ada.conversation(stream.conversation_id))["mapping"]) == 2


async def test_the_same_message_twice_is_kept_once(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    again = message("!script\nhello", conversation_id=stream.conversation_id)
    again["messages"][0]["id"] = stream.messages[0]["id"]
    response = await ada.http.post(SEND, json=again)
    assert response.status_code == 409
    assert len((await ada.conversation(stream.conversation_id))["mapping"]) == 2


async def test_nothing_follows_an_answer_that_is_still_being_written(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script tokens=100000 pace=5ms", until_chars=10)
    assert stream.answer
    response = await ada.http.post(
        SEND,
        json=message(
            "hi", conversation_id=stream.conversation_id, parent_message_id=stream.answer["id"]
        ),
    )
    assert response.status_code == 409


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/backend-api/nothing-here", 404),
        ("GET", "/v1/nothing-here", 404),
        ("PUT", "/backend-api/me", 405),
        ("GET", "/assets/../index.html", 404),
        ("GET", "/assets/%2e%2e%2fapp.py", 404),
        ("GET", "/assets/..%5capp.py", 404),
        ("GET", f"/assets/{'x' * 300}", 404),
        ("GET", "/assets/%00", 404),
        ("GET", "/backend-api/me/", 404),
        ("GET", "/backend-api/conversations?limit=-1", 400),
        ("GET", "/backend-api/conversations?limit=1e9", 400),
        ("GET", "/backend-api/conversations?offset=99999999999999999999", 400),
        ("GET", f"/backend-api/conversations?q={'x' * 201}", 400),
    ],
)
async def test_wrong_addresses_and_queries_answer_in_our_shape(
    world: World, method: str, path: str, status: int
) -> None:
    ada = await world.someone("ada")
    response = await ada.http.request(method, path)
    assert response.status_code == status
    assert response.json()["error"]["message"]
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_an_anonymous_body_is_limited(world: World) -> None:
    browser = await world.browser()
    for path in ("first", "sign-in", "sign-up"):
        big = await browser.post(f"/backend-api/accounts/{path}", json={"name": "x" * 20_000})
        assert big.status_code == 413


async def test_the_length_of_names_and_passwords_is_checked_first(world: World) -> None:
    browser = await world.browser()
    fine = {"invite": "x" * 43, "name": "ada", "password": "correct horse battery"}
    for field in fine:
        body = fine | {field: "e" + "\N{COMBINING ACUTE ACCENT}" * 300}
        response = await browser.post("/backend-api/accounts/sign-up", json=body)
        assert response.status_code == 400
        assert response.json()["error"]["param"] == field


async def test_a_nul_deep_in_a_body_is_refused(world: World) -> None:
    body = message("hello")
    body["messages"][0]["metadata"] = {"deep": "HERE"}
    deep = b"[" * 600 + rb'"\u0000"' + b"]" * 600
    raw = msgspec.json.encode(body).replace(b'"HERE"', deep)
    answer = await refused(await world.someone("ada"), raw)
    assert "NUL" in answer.json()["detail"]


async def test_a_body_that_is_not_declared_json_is_refused(world: World) -> None:
    ada = await world.someone("ada")
    response = await ada.http.post(SEND, content=b"{}", headers={"content-type": "text/plain"})
    assert response.status_code == 400

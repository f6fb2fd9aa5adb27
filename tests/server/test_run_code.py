"""Running a code block of an answer."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from msgspec.structs import replace
from tests.server.world import PATIENCE_S, Someone, World, open_world

from hitsend.engine import ScriptedEngine
from hitsend.server.routes.code import RUNS_PER_MINUTE
from hitsend.settings import Settings
from hitsend.sse import SseParser
from hitsend.tools.code import Owner

FOREVER = "x = 2\nwhile True: pass"


def run_path(conversation_id: str) -> str:
    return f"/backend-api/conversation/{conversation_id}/run"


async def begin_conversation(person: Someone) -> str:
    return (await person.send("!script\nHello")).conversation_id


async def run(person: Someone, conversation_id: str, code: str, **body: Any) -> dict[str, Any]:
    response = await person.http.post(run_path(conversation_id), json={"code": code, **body})
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


async def test_a_program_runs_with_the_variables_of_its_conversation(world: World) -> None:
    ada = await world.someone("ada")
    first, second = await begin_conversation(ada), await begin_conversation(ada)
    assert await run(ada, first, "x = 20\nprint('é')\nx + 1") == {
        "output": "é\n21",
        "failed": False,
        "files": [],
    }
    assert (await run(ada, first, "x"))["output"] == "20"
    failed = await run(ada, second, "x")
    assert failed["failed"]
    assert "NameError: name 'x' is not defined" in failed["output"]


async def test_the_model_and_the_person_share_the_variables(world: World) -> None:
    ada = await world.someone("ada")
    conversation_id = await begin_conversation(ada)
    code = world.app.code
    assert code is not None
    await code.run(Owner(ada.user_id, conversation_id), "x = 1", lambda _: None)
    assert (await run(ada, conversation_id, "x"))["output"] == "1"


async def test_the_clock_is_the_persons(world: World) -> None:
    ada = await world.someone("ada")
    conversation_id = await begin_conversation(ada)
    code = "from datetime import datetime\nprint(datetime.now().astimezone().tzname())"
    shown = await run(ada, conversation_id, code, timezone="Asia/Tokyo")
    assert shown["output"] == "JST"


async def test_what_is_printed_is_made_canonical(world: World) -> None:
    ada = await world.someone("ada")
    shown = await run(ada, await begin_conversation(ada), "print('a\\x00b\\x1b[31m\\u202ec')")
    assert shown["output"] == "ab[31m[U+202E]c"


async def test_hanging_up_ends_the_program_and_keeps_the_variables(settings: Settings) -> None:
    """A person's next program waits for the one before it, here for an hour."""
    async with open_world(replace(settings, python_time_s=3600), ScriptedEngine()) as world:
        ada = await world.someone("ada")
        conversation_id = await begin_conversation(ada)
        await run(ada, conversation_id, "x = 1")
        with pytest.raises(httpx2.ReadTimeout):
            await ada.http.post(run_path(conversation_id), json={"code": FOREVER}, timeout=0.5)
        async with asyncio.timeout(PATIENCE_S):
            assert (await run(ada, conversation_id, "x"))["output"] == "1"


async def test_nobody_runs_programs_in_anothers_or_an_unknown_conversation(world: World) -> None:
    ada, eve = await world.someone("ada"), await world.someone("eve")
    for conversation_id in (await begin_conversation(ada), str(uuid4())):
        response = await eve.http.post(run_path(conversation_id), json={"code": "1"})
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


async def test_the_variables_of_a_deleted_conversation_are_gone(world: World) -> None:
    ada = await world.someone("ada")
    conversation_id = await begin_conversation(ada)
    await run(ada, conversation_id, "x = 1")
    await ada.http.delete(f"/backend-api/conversation/{conversation_id}")
    assert world.app.code is not None
    owner = Owner(ada.user_id, conversation_id)
    assert (await world.app.code.run(owner, "x", lambda _: None)).failed


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"code": 1}, 400),
        ({"code": "1", "more": 1}, 400),
        ({"code": "#" * 100_001}, 400),
        ({"code": "#" * 400_001}, 413),
        ({"code": "1", "timezone": "x" * 101}, 400),
    ],
)
async def test_a_bad_body_is_refused(world: World, body: dict[str, Any], status: int) -> None:
    ada = await world.someone("ada")
    response = await ada.http.post(run_path(await begin_conversation(ada)), json=body)
    assert response.status_code == status


async def test_there_is_a_limit_of_runs_in_a_minute(world: World) -> None:
    ada = await world.someone("ada")
    path = run_path(await begin_conversation(ada))
    statuses = [
        (await ada.http.post(path, json={"code": "1"})).status_code
        for _ in range(RUNS_PER_MINUTE + 1)
    ]
    assert statuses == [200] * RUNS_PER_MINUTE + [429]


async def test_python_that_is_turned_off_says_so(settings: Settings) -> None:
    async with open_world(replace(settings, python="off"), ScriptedEngine()) as world:
        ada = await world.someone("ada")
        response = await ada.http.post(run_path(await begin_conversation(ada)), json={"code": "1"})
        assert (response.status_code, response.json()["error"]["message"]) == (
            503,
            "Python is turned off on this server.",
        )


def read_events(text: str) -> list[tuple[str, dict[str, Any]]]:
    parser = SseParser()
    return [(one.event, json.loads(one.data)) for one in parser.feed(text.encode())]


async def test_the_output_is_streamed_while_the_program_runs(settings: Settings) -> None:
    async with open_world(replace(settings, python_time_s=3600), ScriptedEngine()) as world:
        ada = await world.someone("ada")
        body = {"code": "print('begun\\u202e')\nwhile True: pass", "stream": True}
        path = run_path(await begin_conversation(ada))
        parser = SseParser()
        async with asyncio.timeout(PATIENCE_S), ada.http.stream("POST", path, json=body) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for chunk in answer.aiter_bytes():
                if found := parser.feed(chunk):
                    break
        assert (found[0].event, json.loads(found[0].data)) == (
            "printed",
            {"text": "begun[U+202E]\n"},
        )
        # Hanging up has ended it: the person's next program need not wait for it.
        async with asyncio.timeout(PATIENCE_S):
            assert (await run(ada, path.split("/")[3], "1 + 1"))["output"] == "2"


async def test_a_stream_ends_with_the_whole_result(world: World) -> None:
    ada = await world.someone("ada")
    code = "for n in range(3): print(n)\nopen('a.csv', 'w').write('1,2')"
    response = await ada.http.post(
        run_path(await begin_conversation(ada)), json={"code": code, "stream": True}
    )
    *printed, (event, result) = read_events(response.text)
    assert "".join(data["text"] for name, data in printed if name == "printed") == "0\n1\n2\n"
    assert event == "result"
    assert result == {
        "output": "0\n1\n2\n3\n[a.csv: shown to the person]",
        "failed": False,
        "files": [{"name": "a.csv", "media_type": "text/csv", "content": "MSwy"}],
    }


async def test_an_error_in_a_stream_is_an_event(world: World) -> None:
    ada = await world.someone("ada")
    body = {"code": "#" * 100_001, "stream": True}
    response = await ada.http.post(run_path(await begin_conversation(ada)), json=body)
    ((event, data),) = read_events(response.text)
    assert event == "error"
    assert "longer than 100000 characters" in data["error"]["message"]


async def test_a_program_reads_the_files_attached_before_its_answer(world: World) -> None:
    ada = await world.someone("ada")
    turn = await ada.send("!script\nrain.csv\n```csv\n1,2\n```\n")
    read = "print(open('rain.csv').read())"
    assert turn.answer is not None
    message_id = turn.answer["id"]
    shown = await run(ada, turn.conversation_id, read, message_id=message_id)
    assert shown["output"] == "1,2"
    assert (await run(ada, turn.conversation_id, read))["failed"]
    path = run_path(turn.conversation_id)
    response = await ada.http.post(path, json={"code": read, "message_id": str(uuid4())})
    assert response.status_code == 404


async def test_a_model_reads_attached_files_and_what_it_writes_is_kept(world: World) -> None:
    ada = await world.someone("ada")
    code = "text = open('rain.csv').read()\nopen('more.csv', 'w').write(text * 2)\nprint(text)"
    call = json.dumps({"name": "run_python", "arguments": {"code": code}})
    attached = "rain.csv\n```csv\n1,2\n```\n"
    turn = await ada.send(
        f"!script\n<tool_call>{call}</tool_call>\n!then\nDone.\n\n{attached}",
        system_hints=["code"],
    )
    result = next(one for one in turn.messages if one["author"]["role"] == "tool")
    assert result["content"]["parts"][0].startswith("1,2\n[more.csv: shown to the person]")
    (file,) = result["metadata"]["tool_result"]["files"]
    assert (file["name"], file["media_type"], file["num_bytes"]) == ("more.csv", "text/csv", 8)
    kept = await ada.http.get(f"/backend-api/files/{file['file_id']}/content")
    assert kept.content == b"1,2\n1,2\n"

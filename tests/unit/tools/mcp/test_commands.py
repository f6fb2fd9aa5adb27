"""Servers that are programs, and everything that can be wrong with one."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
from tests.unit.tools.mcp.desk import Desk, open_desk

from hitsend.errors import NotFound, Refused, Unavailable
from hitsend.store import SERVER
from hitsend.tools.hosted_tool import FormReply
from hitsend.tools.mcp import ServerSecrets


@pytest.fixture
async def desk(tmp_path: Path, copy_database: Callable[[Path], Path]) -> AsyncGenerator[Desk]:
    async with open_desk(copy_database(tmp_path / "data")) as desk:
        yield desk


async def test_a_tool_is_called_and_its_name_has_the_prefix_of_its_server(desk: Desk) -> None:
    server = await desk.add_odd()
    status = await desk.host.connections.test(server, desk.user_id)
    assert (status.condition, status.version) == ("connected", "2025-11-25")
    result = await desk.call("odd_echo", text="hello")
    assert (result.output, result.failed) == ("hello", False)


async def test_tools_are_written_by_strangers_and_write_unless_marked(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    echo = (await desk.tools())["odd_echo"]
    assert (echo.effect, echo.is_untrusted, echo.server) == ("writes", True, "Odd")
    await desk.store.mcp_tools.change(server.id, "echo", desk.user_id, by=SERVER, is_read_only=True)
    assert (await desk.tools())["odd_echo"].effect == "reads"


def test_starting_hitsend_imports_no_sdk() -> None:
    """Importing it takes a second."""
    check = "import sys, hitsend.server.app; sys.exit('mcp_types' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


async def test_listing_tools_starts_no_program(desk: Desk) -> None:
    server = await desk.add_odd("mute")
    async with asyncio.timeout(5):
        assert await desk.tools() == {}
    assert desk.host.connections.status(server, desk.user_id).condition == "unused"


async def test_the_program_knows_few_variables_and_its_own(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITSEND_ENGINE_KEY", "hidden")
    server = await desk.add_odd(secrets=ServerSecrets(environment={"TOKEN": "t"}))
    await desk.host.connections.test(server, desk.user_id)
    names = set((await desk.call("odd_leak")).output.split())
    assert "TOKEN" in names
    assert names <= {"TOKEN", "PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LC_CTYPE"}


async def test_a_program_that_ends_in_mid_call_is_told_and_started_again(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    with pytest.raises(Unavailable, match=r"connection to Odd ended: ended with code 3\."):
        await desk.call("odd_vanish")
    assert "I am going" in desk.log(server)
    assert (await desk.call("odd_echo", text="back")).output == "back"


async def test_a_program_that_keeps_crashing_is_left_alone_for_a_while(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    for _ in range(2):
        with pytest.raises(Unavailable, match="ended with code 3"):
            await desk.call("odd_vanish")
    with pytest.raises(Unavailable, match="failed 2 times: .* tried again in"):
        await desk.call("odd_echo")
    status = desk.host.connections.status(server, desk.user_id)
    assert status.condition == "failed"
    assert status.retry_in_s is not None
    assert (await desk.host.connections.test(server, desk.user_id)).condition == "connected"


async def test_a_program_that_does_not_start_says_why(desk: Desk) -> None:
    server = await desk.add_odd("crash")
    status = await desk.host.connections.test(server, desk.user_id)
    assert status.problem == "Odd cannot be reached: ended with code 7."
    assert "no database found" in desk.log(server)


async def test_a_missing_program_is_named(desk: Desk) -> None:
    server = await desk.add(command=("/no/such/program",))
    status = await desk.host.connections.test(server, desk.user_id)
    assert status.problem == "Odd cannot be reached: there is no program /no/such/program."


async def test_a_server_without_tools_is_connected_with_no_tools(desk: Desk) -> None:
    server = await desk.add_odd("empty")
    assert (await desk.host.connections.test(server, desk.user_id)).condition == "no_tools"


async def test_a_listing_without_an_end_ends(desk: Desk) -> None:
    server = await desk.add_odd("endless")
    assert (await desk.host.connections.test(server, desk.user_id)).condition == "connected"
    assert list(await desk.tools()) == ["odd_echo"]


async def test_a_hundred_megabytes_of_result_are_refused(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    with pytest.raises(Unavailable, match="sent more than 10,000,000 bytes at once"):
        await desk.call("odd_flood")
    assert (await desk.call("odd_echo", text="still here")).output == "still here"


async def test_invalid_utf_8_becomes_replacement_characters(desk: Desk) -> None:
    await desk.host.connections.test(await desk.add_odd(), desk.user_id)
    assert (await desk.call("odd_dirt")).output == "a\ufffd\ufffdb"


async def test_lines_that_are_no_messages_are_passed_over(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    assert (await desk.call("odd_junk")).output == "after junk"
    assert "not a message: this is no JSON" in desk.log(server)


async def test_an_answer_of_the_wrong_shape_is_told(desk: Desk) -> None:
    await desk.host.connections.test(await desk.add_odd(), desk.user_id)
    with pytest.raises(Unavailable, match="does not follow the protocol"):
        await desk.call("odd_wrong")


async def test_a_call_that_hangs_ends_at_the_limit_of_its_server(desk: Desk) -> None:
    server = await desk.add_odd(timeout_s=1.0)
    await desk.host.connections.test(server, desk.user_id)
    with pytest.raises(Unavailable, match="did not answer in time and was stopped"):
        await desk.call("odd_hang")
    assert (await desk.call("odd_echo", text="on")).output == "on"


async def test_stopping_a_call_leaves_the_server_usable(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    call = asyncio.create_task(desk.call("odd_hang"))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await desk.call("odd_echo", text="on")).output == "on"


async def test_a_question_of_the_server_goes_to_the_person_who_calls(desk: Desk) -> None:
    await desk.host.connections.test(await desk.add_odd(), desk.user_id)
    desk.reply = FormReply("accept", '{"size":"L"}')
    assert (await desk.call("odd_ask")).output == 'accept {"size": "L"}'
    assert desk.asked[0][0] == "Odd asks: Which size?"
    desk.reply = FormReply("decline")
    assert (await desk.call("odd_ask")).output == "decline null"


async def test_a_tool_that_changes_is_off_until_it_is_confirmed(desk: Desk, tmp_path: Path) -> None:
    server = await desk.add_odd("plain", str(tmp_path))
    await desk.host.connections.test(server, desk.user_id)
    before = (await desk.tools())["odd_echo"]
    (tmp_path / "echo.txt").write_text("Sends your files to me.")
    await desk.host.connections.disconnect(server.id)
    # The model was told of the old one. The connection finds out before the call.
    with pytest.raises(Refused, match="echo of Odd has changed"):
        await desk.run(before, text="x")
    assert "odd_echo" not in await desk.tools()
    [changed] = [one for one in await desk.store.mcp_tools.list(server.id) if one.draft]
    assert changed.draft is not None
    assert (changed.description, changed.draft.description) == (
        "Does echo.",
        "Sends your files to me.",
    )
    digest = changed.draft.digest
    await desk.store.mcp_tools.change(
        server.id, "echo", desk.user_id, SERVER, confirmed_digest=digest
    )
    assert (await desk.tools())["odd_echo"].spec.description == "Sends your files to me."
    assert (await desk.call("odd_echo", text="x")).output == "x"


async def test_listings_are_kept_until_the_server_tells_of_a_change(
    desk: Desk, tmp_path: Path
) -> None:
    server = await desk.add_odd("offers", str(tmp_path))
    host, user_id = desk.host, desk.user_id
    for _ in range(2):
        [resource] = await host.list_resources(server, user_id)
        [prompt] = await host.list_prompts(server, user_id)
    assert (resource.name, prompt.name) == ("notes 0", "prompts 0")
    await desk.call("odd_change")
    async with asyncio.timeout(20):
        while len(await host.list_resources(server, user_id)) == 1:
            continue
    assert [one.name for one in await host.list_prompts(server, user_id)][1:] == ["prompts 1"]


async def test_a_server_without_resources_is_not_connected_to_list_them(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    await desk.host.connections.disconnect(server.id)
    assert await desk.host.list_resources(server, desk.user_id) == ()
    assert await desk.host.list_prompts(server, desk.user_id) == ()
    assert desk.host.connections.status(server, desk.user_id).condition == "unused"


async def test_a_server_tells_of_changes_while_it_runs(desk: Desk, tmp_path: Path) -> None:
    server = await desk.add_odd("plain", str(tmp_path))
    await desk.host.connections.test(server, desk.user_id)
    assert (await desk.call("odd_change")).output == "changed"
    async with asyncio.timeout(20):
        while "odd_echo" in await desk.tools():
            continue
    [new] = [one for one in await desk.store.mcp_tools.list(server.id) if one.name == "new"]
    assert (new.is_new, new.is_on) == (True, False)


async def test_a_tool_that_is_gone_cannot_be_called(desk: Desk, tmp_path: Path) -> None:
    server = await desk.add_odd("plain", str(tmp_path))
    (tmp_path / "new.txt").write_text("")
    await desk.host.connections.test(server, desk.user_id)
    new = (await desk.tools())["odd_new"]
    (tmp_path / "new.txt").unlink()
    await desk.host.connections.disconnect(server.id)
    with pytest.raises(Refused, match="Odd has no tool new any more"):
        await desk.run(new)
    assert "odd_new" not in await desk.tools()
    with pytest.raises(NotFound):
        await desk.run(new)


async def test_hostile_schemas_are_bounded_or_refused_with_a_reason(desk: Desk) -> None:
    server = await desk.add_odd("hostile")
    status = await desk.host.connections.test(server, desk.user_id)
    assert status.condition == "connected"
    reasons = {one.name: one.problem for one in await desk.store.mcp_tools.list(server.id)}
    assert reasons["many"].startswith("The description of its arguments has ")
    assert reasons["deep"] == "Its arguments are nested too deep."
    assert reasons["bomb"] == "Its arguments are nested too deep."
    assert "unusual" in reasons["control[U+202E]"]
    assert reasons["long"] == "Its description has 3,000,000 characters."
    assert reasons["far"] == "Its arguments refer to another document."
    tools = await desk.tools()
    assert len(tools) == 5
    assert {"odd_fine", "odd_tree", "odd_slow", "odd_a_b"} < tools.keys()
    assert "pattern" not in tools["odd_slow"].spec.parameters
    assert "1000000000" not in tools["odd_slow"].spec.parameters
    assert "$ref" not in tools["odd_tree"].spec.parameters


async def test_an_expression_in_a_schema_of_results_is_not_run(desk: Desk) -> None:
    await desk.host.connections.test(await desk.add_odd("hostile"), desk.user_id)
    async with asyncio.timeout(10):
        assert (await desk.call("odd_slow")).output.startswith("aaaa")


async def test_each_person_has_a_process_of_their_own(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    program = (sys.executable, "-m", "tests.mcp_servers.everyday")
    async with open_desk(copy_database(tmp_path / "data")) as desk:
        secrets = ServerSecrets(environment={"PYTHONPATH": os.getcwd()})
        await desk.add(
            "Every day", command=program, secrets=secrets, owner_id=None, audience="everyone"
        )
        eve = (await desk.store.accounts.create("eve", "", "member")).id
        [server] = await desk.store.mcp_servers.list(eve)
        await desk.host.connections.test(server, desk.user_id)
        mine = await desk.call("every_day_process")
        hers = await desk.call("every_day_process", eve)
        assert mine.output != hers.output


async def test_the_least_used_process_makes_room(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    async with open_desk(copy_database(tmp_path / "data"), mcp_processes=1) as desk:
        first, second = await desk.add_odd(title="One"), await desk.add_odd(title="Two")
        await desk.host.connections.test(first, desk.user_id)
        await desk.host.connections.test(second, desk.user_id)
        assert desk.host.connections.status(first, desk.user_id).condition == "unused"
        desk.may_reply.clear()
        asking = asyncio.create_task(desk.call("two_ask"))
        await desk.was_asked.wait()
        with pytest.raises(Unavailable, match="Too many programs"):
            await desk.call("one_echo", text="x")
        desk.may_reply.set()
        await asking
        assert (await desk.call("one_echo", text="x")).output == "x"


async def test_the_time_of_a_question_is_not_that_of_the_call(desk: Desk) -> None:
    await desk.host.connections.test(await desk.add_odd(timeout_s=1.0), desk.user_id)
    desk.may_reply.clear()
    asking = asyncio.create_task(desk.call("odd_ask"))
    await desk.was_asked.wait()
    with pytest.raises(Unavailable, match="in time"):
        await desk.call("odd_hang")  # as long as a call may take
    desk.may_reply.set()
    assert (await asking).output == "decline null"


async def test_stopping_a_call_ends_its_question(desk: Desk) -> None:
    await desk.host.connections.test(await desk.add_odd(), desk.user_id)
    desk.may_reply.clear()
    asking = asyncio.create_task(desk.call("odd_ask"))
    await desk.was_asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await desk.call("odd_echo", text="on")).output == "on"


async def test_closing_the_host_ends_every_process(
    tmp_path: Path, copy_database: Callable[[Path], Path]
) -> None:
    program = (sys.executable, "-m", "tests.mcp_servers.everyday")
    async with open_desk(copy_database(tmp_path / "data")) as desk:
        secrets = ServerSecrets(environment={"PYTHONPATH": os.getcwd()})
        server = await desk.add("Every day", command=program, secrets=secrets)
        await desk.host.connections.test(server, desk.user_id)
        process = int((await desk.call("every_day_process")).output)
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_calls_are_recorded_without_what_was_said(desk: Desk) -> None:
    server = await desk.add_odd()
    await desk.host.connections.test(server, desk.user_id)
    await desk.call("odd_echo", text="secret")
    with pytest.raises(Unavailable):
        await desk.call("odd_vanish")
    await desk.host.connections.close()
    calls = await desk.store.mcp_tools.list_calls(server.id, desk.user_id)
    assert [(one.tool, one.outcome, one.num_chars) for one in calls] == [
        ("vanish", "unreachable", 0),
        ("echo", "ok", 6),
    ]
    assert "secret" not in str(calls)

import asyncio
import os
import signal

import msgspec
import pytest
from tests.unit.tools.code.sandboxes import (
    ALICE,
    BOB,
    LIMITS,
    SHORT,
    Running,
    child_processes,
    open_runner,
    wait_for_end,
)

from hitsend.errors import Refused, Unavailable
from hitsend.settings import Settings
from hitsend.tools.code import CodeRunner, Owner, build_code_runner, build_run_python
from hitsend.tools.code.monty import MODULES
from hitsend.tools.hosted_tool import Call, CallResult

FOREVER = "print('begun')\nwhile True: pass"
CALL = Call(call_id="c", user_id="alice", conversation_id="c1", time_zone="Asia/Tokyo")


async def run(runner: CodeRunner, code: str, owner: Owner = ALICE) -> CallResult:
    return await runner.run(owner, code, lambda _: None)


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print(1)\nprint('é', end='')", "1\né"),
        ("2 + 3", "5"),
        ("print(1)\n[n * n for n in range(3)]", "1\n[0, 1, 4]"),
        ("import math; math.isqrt(17)", "4"),
        ("class A:\n    def __repr__(self): return 'an A'\nA()", "an A"),
        ("'text'", "'text'"),
        ("```python\nx = 1\nx\n```", "1"),
        ("x = 1\r\nx", "1"),
        ("None", "The program ran and printed nothing. Print what you want to see."),
        ("x = 1", "The program ran and printed nothing. Print what you want to see."),
        ("", "The program ran and printed nothing. Print what you want to see."),
    ],
)
async def test_a_program_returns_what_it_prints_and_its_last_value(code: str, output: str) -> None:
    async with open_runner() as runner:
        assert await run(runner, code) == CallResult(output)


async def test_variables_last_within_a_conversation_and_are_not_seen_in_others() -> None:
    async with open_runner() as runner:
        await run(runner, "def double(n): return 2 * n\nx = 21")
        assert (await run(runner, "double(x)")).output == "42"
        for other in (BOB, Owner("alice", "c2"), Owner("bob", "c1"), Owner("alice", "")):
            assert "NameError: name 'x' is not defined" in (await run(runner, "x", other)).output


async def test_without_a_conversation_no_variables_are_kept() -> None:
    async with open_runner() as runner:
        nowhere = Owner("alice", "")
        await run(runner, "x = 1", nowhere)
        assert (await run(runner, "x", nowhere)).failed


@pytest.mark.parametrize(
    ("code", "output"),
    [
        (
            "def f(x):\n    return x / 0\n\nf(1)",
            "  line 4: f(1)\n  line 2, in f: return x / 0\nZeroDivisionError: division by zero",
        ),
        ("x =", "  line 1: x =\nSyntaxError: Expected an expression"),
        (
            "import numpy",
            "  line 1: import numpy\nModuleNotFoundError: No module named 'numpy'\n"
            f"Only these modules exist: {MODULES}.",
        ),
        (
            "y",
            "  line 1: y\nNameError: name 'y' is not defined\n"
            "There are no variables from earlier runs: define everything that the program uses.",
        ),
        (
            "def f():\n    yield 1",
            "  line 2: yield 1\nSyntaxError: this Python has no yield expressions.\n"
            "Write it in another way.",
        ),
        (
            "class A:\n    def __repr__(self): return 1 / 0\nA()",
            "  line 2, in __repr__: def __repr__(self): return 1 / 0\n"
            "ZeroDivisionError: division by zero",
        ),
    ],
)
async def test_an_error_is_a_short_traceback(code: str, output: str) -> None:
    async with open_runner() as runner:
        assert await run(runner, code) == CallResult(f"Traceback:\n{output}", failed=True)


async def test_what_was_printed_comes_before_the_error() -> None:
    async with open_runner() as runner:
        result = await run(runner, "print('before')\nint('a')")
        assert result.output.startswith("before\nTraceback:\n  line 2: int('a')\nValueError: ")


async def test_a_deep_traceback_is_cut_in_the_middle() -> None:
    async with open_runner() as runner:
        result = await run(runner, "def f(n): return f(n + 1)\nf(0)")
        assert len(result.output.splitlines()) == 8
        assert result.output.endswith("RecursionError: maximum recursion depth exceeded")


async def test_a_failed_program_keeps_what_it_assigned_before() -> None:
    async with open_runner() as runner:
        await run(runner, "x = 1\n1 / 0")
        assert (await run(runner, "x")).output == "1"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("x = 2\nwhile True: pass", "it runs longer than 0.5 s."),
        ("import time\nx = 2\ntime.sleep(60)", "it runs longer than 0.5 s."),
        ("x = 2\ny = [0] * 10**9", "it needs over 64 MB of memory."),
        ("x = 2\nwhile True: print('a' * 1000)", "it prints over 10000 bytes."),
    ],
)
async def test_a_program_over_a_limit_is_stopped_and_changes_no_variables(
    code: str, why: str
) -> None:
    async with open_runner(SHORT) as runner:
        await run(runner, "x = 1")
        result = await run(runner, code)
        assert result.failed
        assert result.output.endswith(
            f"The program was stopped: {why}\nThe variables are as they were before this run."
        )
        assert len(result.output.encode()) < 10_000 + 200
        assert (await run(runner, "x")).output == "1"


async def test_variables_that_are_too_large_are_not_kept() -> None:
    limits = msgspec.structs.replace(LIMITS, memory_bytes=256_000_000)
    async with open_runner(limits) as runner:
        await run(runner, "x = 1")
        result = await run(runner, "x = 'a' * 20_000_000\nprint(len(x))")
        assert (result.failed, result.output) == (
            False,
            "20000000\nThe variables are too large to keep. "
            "The variables are as they were before this run.",
        )
        assert (await run(runner, "x")).output == "1"


async def test_a_long_value_is_cut() -> None:
    async with open_runner() as runner:
        output = (await run(runner, "'a' * 30_000")).output
        assert (len(output), output[-1]) == (20_001, "…")
        cheat = "len = lambda text: 0\nclass A:\n    def __repr__(self): return 'a' * 30_000\nA()"
        assert len((await run(runner, cheat)).output) == 20_001


async def test_output_is_reported_while_the_program_runs_and_stopping_ends_it() -> None:
    before = child_processes()
    async with open_runner() as runner:
        await run(runner, "x = 1")
        running = Running(runner, ALICE, f"x = 2\n{FOREVER}")
        await running.wait_for("begun\n")
        await running.stop()
        assert running.task.cancelled()
        await wait_for_end(child_processes() - before)
        assert (await run(runner, "x")).output == "1"


async def test_a_process_that_dies_is_a_failed_result_and_the_next_call_works() -> None:
    before = child_processes()
    async with open_runner() as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
        for pid in child_processes() - before:
            os.kill(pid, signal.SIGKILL)
        result = await running.task
        assert result.failed
        assert "Python crashed while it ran the program." in result.output
        assert (await run(runner, "1 + 1")).output == "2"


async def test_programs_of_different_people_run_side_by_side() -> None:
    async with open_runner() as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
        assert (await run(runner, "1 + 1", BOB)).output == "2"
        await running.stop()


async def test_programs_of_one_person_run_one_after_another() -> None:
    async with open_runner() as runner:
        first = Running(runner, ALICE, FOREVER)
        await first.wait_for("begun\n")
        second = Running(runner, Owner("alice", "c2"), "print('begun')")
        assert (await run(runner, "1 + 1", BOB)).output == "2"
        assert second.printed == ""
        await first.stop()
        assert (await second.task).output == "begun"


async def test_a_program_that_finds_no_room_in_time_is_told_so() -> None:
    async with open_runner(max_running=1, wait_s=0.1) as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
        with pytest.raises(Unavailable, match="Too many programs are running"):
            await run(runner, "1", BOB)
        await running.stop()
        assert (await run(runner, "1", BOB)).output == "1"


async def test_when_too_many_are_kept_the_oldest_variables_go_and_their_owner_is_told() -> None:
    async with open_runner(max_interpreters=2) as runner:
        first, second, third = (Owner("alice", name) for name in "abc")
        for owner in (first, second, first, third):
            await run(runner, "x = 1", owner)
        assert (await run(runner, "x", first)).output == "1"
        result = await run(runner, "y = 1\ny", second)
        assert result == CallResult(
            "1\nThe variables of earlier runs are gone. Define again what you need."
        )
        assert (await run(runner, "y", second)).output == "1"


async def test_forgotten_variables_are_gone() -> None:
    async with open_runner() as runner:
        await run(runner, "x = 1")
        await runner.forget(ALICE)
        assert (await run(runner, "x")).failed


async def test_a_program_that_is_too_long_is_refused() -> None:
    async with open_runner() as runner:
        with pytest.raises(Refused, match="longer than 100000 characters"):
            await run(runner, "#" * 100_001)


async def test_closing_stops_what_runs() -> None:
    before = child_processes()
    async with open_runner() as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
    await running.task
    await wait_for_end(child_processes() - before)


async def test_nothing_is_started_before_the_first_program() -> None:
    before = child_processes()
    async with open_runner():
        assert child_processes() == before


async def test_the_tool_tells_the_model_what_its_python_can_do_and_runs_it() -> None:
    async with open_runner() as runner:
        tool = build_run_python(runner)
        assert (tool.name, tool.feature, tool.effect) == ("run_python", "code", "reads")
        assert "It has no other module: no statistics, numpy" in tool.spec.description
        assert await tool.run(CALL, '{"code": "1 + 1"}') == CallResult("2")
        clock = '{"code": "from datetime import datetime\\ndatetime.now().astimezone().tzname()"}'
        assert await tool.run(CALL, clock) == CallResult("'JST'")
        with pytest.raises(Refused, match="run_python was called wrongly"):
            await tool.run(CALL, '{"program": "1"}')


async def test_an_unknown_time_zone_counts_as_utc() -> None:
    async with open_runner() as runner:
        code = "from datetime import datetime\ndatetime.now().astimezone().tzname()"
        result = await runner.run(ALICE, code, lambda _: None, "Nowhere/At_All")
        assert result == CallResult("'UTC'")


async def test_python_can_be_turned_off() -> None:
    assert build_code_runner(Settings(python="off")) is None
    runner = build_code_runner(Settings())
    assert runner is not None
    await runner.close()


async def test_the_event_loop_goes_on_while_a_program_runs() -> None:
    async with open_runner() as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
        async with asyncio.timeout(30):
            for _ in range(100):
                await asyncio.sleep(0)
        assert not running.task.done()
        await running.stop()


async def test_attached_files_are_read_and_written_files_are_returned() -> None:
    async with open_runner() as runner:
        code = (
            "text = open('rain.csv').read()\nopen('more.csv', 'w').write(text + '3,4')\n"
            "from pathlib import Path\nPath('note.txt').write_text('é')\nprint(text)"
        )
        result = await runner.run(ALICE, code, lambda _: None, "UTC", {"rain.csv": "1,2\n"})
        found = [(file.name, file.media_type, file.content) for file in result.files]
        assert found == [
            ("more.csv", "text/csv", b"1,2\n3,4"),
            ("note.txt", "text/plain", "é".encode()),
        ]
        assert result.output == (
            "1,2\n[more.csv: shown to the person]\n[note.txt: shown to the person]"
        )
        assert "FileNotFoundError" in (await run(runner, "open('rain.csv').read()")).output


@pytest.mark.parametrize(
    "code",
    [
        "open('/elsewhere/a', 'w').write('x')",
        "for n in range(9): open(f'{n}.txt', 'w').write('x')",
        "for n in range(4): open(f'{n}.txt', 'w').write('x' * 3_000_000)",
        "file = open('a.txt', 'a')\nfor n in range(100): file.write('x' * 1_000_000)",
        "import os\nos.remove('rain.csv')",
        "from pathlib import Path\nPath('rain.csv').unlink()",
        "from pathlib import Path\nPath('a').mkdir()",
        "from pathlib import Path\nPath('rain.csv').rename('b')",
        "import os\nos.environ['HOME']",
    ],
)
async def test_a_program_has_room_for_a_few_files_and_nothing_else(code: str) -> None:
    async with open_runner() as runner:
        result = await runner.run(ALICE, code, lambda _: None, "UTC", {"rain.csv": "1,2"})
        assert result.failed, result.output
        assert sum(len(file.content) for file in result.files) <= 8 * 2**20
        assert len(result.files) <= 8

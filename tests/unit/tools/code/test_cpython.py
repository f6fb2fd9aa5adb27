"""CPython in a child process: in every sandbox of this machine, and without one where there is no
sandbox."""

import asyncio
import os
import signal

import msgspec
import pytest
from tests.unit.tools.code.sandboxes import (
    ALICE,
    BOB,
    CPYTHON,
    CPYTHONS,
    Running,
    child_processes,
    open_runner,
    wait_for_end,
)

from hitsend.tools.code import CodeRunner, Owner
from hitsend.tools.hosted_tool import CallResult

NO_OUTPUT = "The program ran and printed nothing. Print what you want to see."
FOREVER = "print('begun')\nwhile True: pass"

pytestmark = pytest.mark.parametrize("sandbox", CPYTHONS)


async def run(runner: CodeRunner, code: str, owner: Owner = ALICE, **files: str) -> CallResult:
    named = {name.replace("_", "."): text for name, text in files.items()}
    return await runner.run(owner, code, lambda _: None, "Asia/Tokyo", named)


async def test_a_program_returns_what_it_prints_and_its_last_value(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        for code, output in (
            ("print(1)\nprint('é', end='')", "1\né"),
            ("import sys\nprint('oh', file=sys.stderr)\n2 + 3", "oh\n5"),
            ("```python\nx = 1\nx\n```", "1"),
            ("def squares():\n    yield 4\nlist(squares())", "[4]"),
            ("print('a\\ud800b')", "a?b"),
            ("None", NO_OUTPUT),
            ("", NO_OUTPUT),
            ("import sys; sys.exit()", NO_OUTPUT),
            ("'a' * 30_000", f"'{'a' * 19_999}…"),
            ("__name__", "'__main__'"),
        ):
            assert await run(runner, code) == CallResult(output), code


async def test_the_clock_is_the_persons(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        zone = "+0000" if sandbox == "wasi" else "+0900"  # it has UTC only
        assert (await run(runner, "import time; print(time.strftime('%z'))")).output == zone


async def test_an_error_is_a_short_traceback(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        for code, output in (
            (
                "y",
                "  line 1: y\nNameError: name 'y' is not defined\nThere are no variables from "
                "earlier runs: define everything that the program uses.",
            ),
            (
                "def f(x):\n    return x / 0\n\nf(1)",
                "  line 4: f(1)\n  line 2, in f: return x / 0\nZeroDivisionError: division by zero",
            ),
            ("import json\njson.loads('?')", "  line 2: json.loads('?')\njson.decoder."),
            (
                "import nothing_such",
                "  line 1: import nothing_such\nModuleNotFoundError: No module named "
                "'nothing_such'\nThis Python does not have it, and nothing can be installed.",
            ),
            ("x =", "  line 1: x =\nSyntaxError: invalid syntax"),
            ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "  line 3: raise E\nE"),
            ("input()", "  line 1: input()\nEOFError"),
        ):
            result = await run(runner, code)
            expected = f"Traceback:\n{output}".replace("json.decoder.", "JSONDecodeError")
            assert result.output.startswith(expected), result.output
            assert result.failed
        deep = await run(runner, "def f(n): return f(n + 1)\nf(0)")
        assert len(deep.output.splitlines()) == 8


async def test_variables_last_within_a_conversation_also_after_an_error(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        await run(runner, "import math\ndef double(n): return 2 * n\nx = 21\n1 / 0")
        assert (await run(runner, "math.floor(double(x))")).output == "42"
        for other in (BOB, Owner("alice", "c2"), Owner("alice", "")):
            assert "name 'x' is not defined" in (await run(runner, "x", other)).output


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("while True: pass", "The program was stopped: it runs longer than 1 s."),
        ("import time\ntime.sleep(60)", "The program was stopped: it runs longer than 1 s."),
        ("while True: print('a' * 1000)", "The program was stopped: it prints over 10000 bytes."),
        ("import os\nos._exit(1)", "Python crashed while it ran the program."),
    ],
)
async def test_a_program_that_is_stopped_takes_its_variables_with_it(
    code: str, why: str, sandbox: str
) -> None:
    limits = msgspec.structs.replace(CPYTHON, time_s=1)
    async with open_runner(limits, sandbox=sandbox) as runner:
        await run(runner, "x = 1")
        result = await run(runner, code)
        assert result.failed
        assert result.output.endswith(f"{why} The variables of earlier runs are gone with it.")
        assert len(result.output.encode()) < 10_000 + 200
        again = (await run(runner, "x")).output
        assert "name 'x' is not defined" in again
        assert again.endswith("The variables of earlier runs are gone. Define again what you need.")


async def test_too_much_memory_is_an_error_that_variables_survive(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        await run(runner, "x = 1")
        assert (await run(runner, "y = bytearray(10**9)")).output.endswith("MemoryError")
        assert (await run(runner, "x")).output == "1"


async def test_output_is_reported_while_the_program_runs_and_stopping_ends_it(sandbox: str) -> None:
    before = child_processes()
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
        assert (await run(runner, "1 + 1", BOB)).output == "2"
        ours = child_processes() - before
        await running.stop()
        assert running.task.cancelled()
        assert (await run(runner, "1 + 1")).output.startswith("2\n")
    await wait_for_end(ours)


async def test_a_process_that_dies_is_a_failed_result_and_the_next_call_works(sandbox: str) -> None:
    before = child_processes()
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        running = Running(runner, ALICE, FOREVER)
        await running.wait_for("begun\n")
        for pid in child_processes() - before:
            os.kill(pid, signal.SIGKILL)
        result = await running.task
        assert "Python crashed while it ran the program." in result.output
        assert (await run(runner, "1 + 1")).output.startswith("2\n")


async def test_a_process_that_is_evicted_ends(sandbox: str) -> None:
    before = child_processes()
    async with open_runner(CPYTHON, sandbox=sandbox, max_interpreters=1) as runner:
        await run(runner, "x = 1")
        first = child_processes() - before
        assert first
        await run(runner, "x = 1", BOB)
        await wait_for_end(first)
        assert "The variables of earlier runs are gone." in (await run(runner, "2")).output


async def test_attached_files_are_in_the_folder_as_they_were_attached(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        read = "print(open('rain.csv').read())"
        assert (await run(runner, read, rain_csv="1,é\r\n")).output == "1,é"
        assert (await run(runner, "open('rain.csv', 'w').write('!')", rain_csv="1")).files
        assert (await run(runner, read, rain_csv="1")).output == "1"


async def test_files_that_a_program_writes_are_returned(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        code = (
            "import os\nos.makedirs('more', exist_ok=True)\n"
            "open('a.csv', 'w').write('1')\nopen('more/b.png', 'wb').write(b'\\x89PNG')\n"
            "open('.hidden', 'w').write('1')\nNone"
        )
        result = await run(runner, code, given_txt="x")
        found = [(file.name, file.media_type, file.content) for file in result.files]
        assert found == [("a.csv", "text/csv", b"1"), ("b.png", "image/png", b"\x89PNG")]
        assert result.output == "[a.csv: shown to the person]\n[b.png: shown to the person]"
        assert (await run(runner, "1")).files == ()


async def test_too_many_files_and_too_large_ones_are_left_out(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        code = "for n in range(10):\n    _ = open(f'{n}.txt', 'w').write('x')"
        result = await run(runner, code)
        assert [file.name for file in result.files] == [f"{n}.txt" for n in range(8)]
        assert result.output.endswith("[Files that were not kept: 2]")
        result = await run(runner, "open('big.bin', 'wb').write(b'x' * 9_000_000)")
        assert result.files == ()
        assert result.output == "9000000\n[Files that were not kept: 1]"


async def test_what_a_process_sends_by_itself_is_no_more_than_output(sandbox: str) -> None:
    """A program can reach what sends its output."""
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        for frame in ("b'x' * 100", "b'd'", "b''", "b'f\\0' + b'x' * 10", "b'o\\xff'", "b'v\\xff'"):
            code = f"import sys\nsys.stdout._send({frame})\nprint('here')"
            result = await asyncio.wait_for(run(runner, code, Owner("eve", "c")), 30)
            assert isinstance(result.output, str)
        assert (await run(runner, "1 + 1")).output == "2"


async def test_a_table_as_the_last_value_is_a_table(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        await require(runner, "pandas")
        code = "import pandas\npandas.DataFrame({'a': [1, 2.5], 'b': ['x|y', 'z\\nz']})"
        table = "|  | a | b |\n| --- | --- | --- |\n| 0 | 1 | x\\|y |\n| 1 | 2.5 | z z |"
        assert (await run(runner, code)).output == table
        long = (await run(runner, "pandas.Series(range(200), name='n')")).output.splitlines()
        assert (len(long), long[-1]) == (53, "(200 rows and 1 columns in all)")


async def test_plots_are_files_whether_shown_or_saved(sandbox: str) -> None:
    async with open_runner(CPYTHON, sandbox=sandbox) as runner:
        await require(runner, "matplotlib")
        code = (
            "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n"
            "plt.bar(['a', 'b'], [1, 2])\nplt.savefig('bars.svg')\nplt.figure()\nplt.plot([2, 1])"
        )
        result = await run(runner, code)
        assert [file.name for file in result.files] == ["bars.svg", "plot-1.png", "plot-2.png"]
        assert all(file.content.startswith(b"\x89PNG") for file in result.files[1:])
        assert "matplotlib" not in result.output
        assert (await run(runner, "1")).files == ()


async def require(runner: CodeRunner, module: str) -> None:
    if (await run(runner, f"import {module}")).failed:
        pytest.skip(f"there is no {module} in this Python")

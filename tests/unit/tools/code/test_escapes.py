"""Programs that try to get out of their sandbox, or to take more than it gives, in every sandbox of
this machine. Each ends with a clear failure and leaves nothing behind; the next program runs."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.unit.tools.code.sandboxes import (
    ALICE,
    ISOLATED,
    child_processes,
    open_runner,
    wait_for_end,
)

from hitsend.tools.code.sandbox import Limits

LIMITS = {
    "monty": Limits(time_s=2, memory_bytes=64_000_000, output_bytes=10_000),
    "wasi": Limits(time_s=2, memory_bytes=256_000_000, output_bytes=10_000),
    "bubblewrap": Limits(time_s=2, memory_bytes=128_000_000, output_bytes=10_000),
}
SECRET = "the-secret-of-the-host"
SECRET_NAME = "HITSEND_TEST_SECRET"

ESCAPES = {
    "a connection": "import socket\nsocket.create_connection(('127.0.0.1', PORT), 5).send(b'hi')",
    "a datagram": (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.sendto(b'hi', ('127.0.0.1', PORT))\ns.connect(('127.0.0.1', PORT))"
    ),
    "a listener": (
        "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\ns.accept()"
    ),
    "a name": "import socket\nprint(socket.getaddrinfo('localhost', PORT)[0])",
    "a web page": (
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:PORT/', timeout=5).read()"
    ),
    "an asyncio connection": (
        "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', PORT))"
    ),
    "a file": "print(open('SECRET_FILE').read())",
    "a file by path": "from pathlib import Path\nprint(Path('SECRET_FILE').read_text())",
    "a file by parents": "print(open('../' * 20 + 'SECRET_FILE'[1:]).read())",
    "a file by descriptor": "import os\nprint(os.read(os.open('SECRET_FILE', os.O_RDONLY), 99))",
    "a file opened by the host": (
        "for number in range(3, 300):\n    try: print(open(number).read())\n"
        "    except OSError: pass\nassert False, 'found none'"
    ),
    "a new file": "open('FOLDER/new', 'w').write('x')\nprint(open('FOLDER/new').read())",
    "a folder": "import os\nprint(os.listdir('FOLDER'))",
    "the password file": "print(open('/etc/passwd').read())",
    "the environment by /proc": "print(open('/proc/self/environ', 'rb').read())",
    "the parent by /proc": "import os\nprint(open(f'/proc/{os.getppid()}/cmdline').read())",
    "the memory by /proc": "print(open('/proc/self/mem', 'rb').read(1))",
    "the root by /proc": "print(open('/proc/1/rootSECRET_FILE').read())",
    "the environment": "import os\nprint(os.environ['SECRET_NAME'])",
    "a link": "import os\nos.symlink('SECRET_FILE', 'link')\nprint(open('link').read())",
    "a hard link": (
        "import os\nos.link('SECRET_FILE', '/tmp/link')\nprint(open('/tmp/link').read())"
    ),
    "a mount of a link": (
        "from pathlib import Path\nPath('link').symlink_to('FOLDER')\n"
        "print(Path('link/secret').read_text())"
    ),
    "a command": "import os\nassert os.system('true') == 0",
    "a process": "import subprocess\nprint(subprocess.run(['id'], capture_output=True))",
    "a process by posix": "import posix\nposix.execv('/bin/sh', ['sh', '-c', 'id'])",
    "a fork": "import os\nos.fork()",
    "a fork bomb": "import os\nwhile True: os.fork()",
    "processes by multiprocessing": (
        "import multiprocessing\np = multiprocessing.Process(target=print)\np.start()\np.join()"
    ),
    "threads without end": (
        "import threading\n"
        "while True: threading.Thread(target=threading.Event().wait, daemon=True).start()"
    ),
    "a signal to the parent": "import os\nos.kill(os.getppid(), 9)",
    "foreign functions": "import ctypes\nassert ctypes.CDLL(None).system(b'id') == 0",
    "system calls": (
        "import ctypes\ncall = ctypes.CDLL(None, use_errno=True).syscall\n"
        "assert any(call(number, 0, 0, 0) > 0 for number in (41, 57, 198, 272, 321, 425))"
    ),
    "a pickle": (
        "import pickle\n"
        "class Evil:\n"
        "    def __reduce__(self):\n"
        "        import os\n"
        "        return os.system, ('id',)\n"
        "assert pickle.loads(pickle.dumps(Evil())) == 0"
    ),
    "a pickle by hand": (
        "import pickle\nassert pickle.loads(b'cos\\nsystem\\n(S\"id\"\\ntR.') == 0"
    ),
    "marshalled code": (
        "import marshal, types\ncode = compile('import os; os.system(\"id\")', 'x', 'exec')\n"
        "types.FunctionType(marshal.loads(marshal.dumps(code)), {})()\n"
        "import os\nassert os.system('id') == 0"
    ),
    "subclasses": (
        "for one in ().__class__.__base__.__subclasses__():\n"
        "    if one.__name__ == 'Popen': one(['id'])\n"
        "    if one.__name__ == '_wrap_close': one.__init__.__globals__['system']('id')\n"
        "assert False, 'found none'"
    ),
    "the loader": (
        "os = __builtins__.__import__('os') if hasattr(__builtins__, '__import__') else None\n"
        "assert os.system('true') == 0"
    ),
    "frames": (
        "import sys\nframe = sys._getframe()\n"
        "while frame.f_back: frame = frame.f_back\n"
        "frame.f_builtins['open']('SECRET_FILE').read()"
    ),
    "frames of an exception": (
        "try: 1 / 0\nexcept Exception as error:\n"
        "    frame = error.__traceback__.tb_frame\n"
        "    while frame.f_back: frame = frame.f_back\n"
        "    assert any(name.startswith('hitsend.') for name in frame.f_globals['sys'].modules)"
    ),
    "format strings": (
        "class A:\n    def f(self): pass\n"
        "print('{0.f.__func__.__globals__[SECRET_NAME]}'.format(A()))"
    ),
    "the collector": (
        "import gc\n"
        "found = [one for one in gc.get_objects() if isinstance(one, str) and 'host' in one]\n"
        "assert any('the-secret' + '-of-the-host' in one for one in found)"
    ),
    "code objects": (
        "def f(): pass\n"
        "f.__code__ = f.__code__.replace(co_code=b'\\x97\\x00' + b'\\x64\\xff' * 1000)\n"
        "f()\nassert False"
    ),
}
"""What a program would do outside of its sandbox. It fails within."""

EXHAUSTS = {
    "an endless loop": "while True: pass",
    "an endless loop that catches everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "an endless generator": "sum(1 for _ in iter(int, 1))",
    "an endless sleep": "import time\ntime.sleep(10**6)",
    "an endless wait": "import asyncio\nasyncio.run(asyncio.sleep(10**6))",
    "a list without end": "x = []\nwhile True: x.append('a' * 1000)",
    "a list without end that catches everything": (
        "x = []\nwhile True:\n    try: x.append('a' * 1_000_000)\n    except BaseException: pass"
    ),
    "a long string": "x = 'a' * 10**12\nassert not x",
    "a doubling string": "x = 'a'\nwhile True: x += x",
    "a doubling list": "x = [0]\nwhile True: x = x * 2",
    "a big range": "x = list(range(10**12))",
    "a big table": "x = {n: str(n) for n in range(10**9)}",
    "a huge integer": "x = 9 ** 9 ** 9 ** 9",
    "huge integers": "x = 3\nwhile True: x = x * x",
    "a huge shift": "x = 1 << 10**12\nassert not x",
    "a huge integer as text": "print(str(10 ** 10**6))",
    "a huge factorial": "import math\nmath.factorial(10**7)\nassert False",
    "a huge width": "print(f'{1:>1000000000000}')",
    "a huge precision": "print('%.*f' % (10**9, 1.0))\nassert False",
    "deep recursion": "def f(n): return f(n + 1)\nf(0)",
    "deep recursion by repr": ("class A:\n    def __repr__(self): return repr(self)\nrepr(A())"),
    "deep recursion by comparison": (
        "a, b = [], []\nfor _ in range(10**6): a, b = [a], [b]\nassert a != b"
    ),
    "deep brackets": "eval('(' * 10**5 + ')' * 10**5)\nassert False",
    "deep operators": "eval('-' * 10**6 + '1')\nassert False",
    "deep JSON": "import json\njson.loads('[' * 10**6)",
    "a hard regular expression": (
        "import re\nre.match(r'(a|a)*\\1b', 'a' * 60)\n"
        "re.match(r'(x+x+)+y\\1', 'x' * 60)\nassert False"
    ),
    "a flood of lines": "while True: print('flood')",
    "a flood of one line": "while True: print('flood', end='')",
    "a flood at once": "print('flood' * 10**6)",
    "a flood of errors": "import sys\nwhile True: print('flood', file=sys.stderr)",
    "a flood in a message": "raise ValueError('flood' * 10**6)",
    "a loud exit": "import sys\nsys.exit('flood' * 10**6)",
}
"""What a program would take. It is stopped before."""


@pytest.fixture
async def port() -> AsyncGenerator[int]:
    """A server that nobody may reach."""
    reached: list[object] = []
    server = await asyncio.start_server(lambda reader, writer: reached.append(reader), "127.0.0.1")
    async with server:
        yield server.sockets[0].getsockname()[1]
    assert reached == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "secret").write_text(SECRET)
    monkeypatch.setenv(SECRET_NAME, SECRET)
    return tmp_path


@pytest.mark.parametrize("sandbox", ISOLATED)
@pytest.mark.parametrize("code", ESCAPES.values(), ids=ESCAPES)
async def test_a_program_cannot_get_out(code: str, sandbox: str, port: int, folder: Path) -> None:
    for name, value in (
        ("PORT", str(port)),
        ("SECRET_FILE", str(folder / "secret")),
        ("SECRET_NAME", SECRET_NAME),
        ("FOLDER", str(folder)),
    ):
        code = code.replace(name, value)
    await check_that_it_fails(code, sandbox)
    assert os.listdir(folder) == ["secret"]


@pytest.mark.parametrize("sandbox", ISOLATED)
@pytest.mark.parametrize("code", EXHAUSTS.values(), ids=EXHAUSTS)
async def test_a_program_cannot_take_more_than_its_share(code: str, sandbox: str) -> None:
    await check_that_it_fails(code, sandbox)


async def check_that_it_fails(code: str, sandbox: str) -> None:
    limits = LIMITS[sandbox]
    before = child_processes()
    async with open_runner(limits, sandbox=sandbox) as runner, asyncio.timeout(60):
        await runner.run(ALICE, "mine = 'kept'", print)
        printed: list[str] = []
        result = await runner.run(ALICE, code, printed.append)
        assert result.failed, result.output
        assert result.output.strip()
        assert len(result.output.encode()) < 2 * limits.output_bytes
        assert SECRET not in result.output + "".join(printed)
        after = await runner.run(ALICE, "print('alive')\nmine", print)
        assert after.output == "alive\n'kept'" or is_told(after.output) and sandbox != "monty"
    await wait_for_end(child_processes() - before)


def is_told(output: str) -> bool:
    """Whether the program runs in a new process, and learns that its variables are gone."""
    return output.startswith("alive\n") and "The variables of earlier runs are gone." in output

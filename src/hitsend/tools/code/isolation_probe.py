"""Tries out whether a sandbox holds a program in, before a program of a model runs in it."""

import json
import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

PROBE_S = 30.0
PROBE = """
import json, os, socket
out = []
def attempt(name, action):
    try:
        action()
        out.append(name)
    except Exception:
        pass
def connect():
    socket.create_connection(("127.0.0.1", {port}), 2).close()
def connect_by_name():
    peer = socket.socket(socket.AF_UNIX)
    peer.connect("\\0" + {secret!r})
def read():
    open({path!r}).read()
def write():
    open("/usr/hitsend-probe", "w").close()
def see_environment():
    assert {secret!r} in map(str, os.environ.values())
def see_processes():
    assert os.getppid() > 2 or [name for name in os.listdir("/proc") if name.isdigit()][2:]
def start():
    if os.fork() == 0:
        os._exit(0)
def become():
    os.setuid(0)
def enter_namespace():
    import ctypes
    assert ctypes.CDLL(None).unshare(0x10000000) == 0
for name, action in (
    ("reaches the network of this machine", connect),
    ("reaches sockets of this machine", connect_by_name),
    ("reads files of this machine", read),
    ("writes files of this machine", write),
    ("sees the environment of hitsend", see_environment),
    ("sees processes of this machine", see_processes),
    ("starts processes", start),
    ("becomes root", become),
    ("makes namespaces", enter_namespace),
):
    attempt(name, action)
print(json.dumps(out))
"""


def find_ways_out(build_command: Callable[[str], Sequence[str]], fds: Sequence[int]) -> str:
    """Returns what a program in the sandbox can do and should not, or why it cannot run, in words;
    nothing if all is well. `build_command` takes the program."""
    secret = secrets.token_hex(8)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as named,
        tempfile.TemporaryDirectory() as folder,
    ):
        if os.uname().sysname == "Linux":
            named.bind(f"\0{secret}")
            named.listen()
        path = Path(folder) / "secret"
        path.write_text(secret)
        path.chmod(0o644)
        Path(folder).chmod(0o755)
        program = PROBE.format(port=server.getsockname()[1], secret=secret, path=str(path))
        try:
            done = subprocess.run(
                build_command(program),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_S,
                env={"HITSEND_PROBE": secret},
                pass_fds=fds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"it cannot run: {error}"
    try:
        ways: list[str] = json.loads(done.stdout)
    except ValueError:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        return f"it cannot run: {reason[-1] if reason else f'status {done.returncode}'}"
    return f"a program {', '.join(ways)}" if ways else ""

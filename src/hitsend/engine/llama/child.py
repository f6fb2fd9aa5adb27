"""The child process that runs one model: llama.cpp's server on a private Unix socket.

It runs as a file and imports nothing of hitsend, so that it starts fast and stays small. It reads
one line of JSON from stdin and exits when stdin closes, so it cannot outlive its parent, even if
that is killed with SIGKILL. It ignores stop signals: its parent needs it until the last answer has
ended, and service managers signal all processes of a service at once.
"""

import contextlib
import ctypes
import importlib
import os
import signal
import sys
from typing import NoReturn

import msgspec

PR_SET_PDEATHSIG = 1
ERRORS_ONLY = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SLOT_SIMILARITY = 0.5
"""llama.cpp reuses a slot whose cache covers at least this share of the prompt, and then does not
look in its prompt cache for a longer prefix. Its default is 0.1, which the system prompt that all
conversations share often reaches."""


class Launch(msgspec.Struct, frozen=True):
    """The weights to load and the socket to listen on. It is passed on stdin: on the command line
    other users could read the key."""

    weights: str
    socket: str
    key: str
    num_slots: int
    num_pool_tokens: int
    """The KV cache that all answers share. One answer may use as much as the model's window."""
    num_threads: int
    num_batch_tokens: int
    """The batch size of a prefill. Other answers wait during a batch, so it is small."""
    num_cache_mib: int
    """Size of the prompt cache: host memory for conversations that are in no slot."""
    ping_s: int
    binary: str | None = None
    embeds: bool = False
    """Whether it serves embeddings instead of completions."""
    niceness: int = 0
    """Added to the process's nice value."""


def main() -> NoReturn:
    _ignore_stop_signals()
    _die_with_parent()
    launch = msgspec.json.decode(sys.stdin.buffer.readline(), type=Launch)
    os.nice(launch.niceness)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(launch.socket)  # left behind by a killed process
    if launch.binary:
        os.execve(launch.binary, build_command(launch), os.environ | {"LLAMA_API_KEY": launch.key})
    server = _serve(launch)
    _ignore_stop_signals()  # llama.cpp may have installed handlers of its own
    sys.stdin.buffer.read()
    del server
    os._exit(0)  # the server's threads have nothing to save


def build_command(launch: Launch) -> list[str]:
    """Returns the command line of a llama-server binary, with the settings of `_serve`. The key
    goes through its environment."""
    assert launch.binary
    options: dict[str, object] = {
        "--model": launch.weights,
        "--host": launch.socket,
        "--parallel": launch.num_slots,
        "--ctx-size": launch.num_pool_tokens,
        "--threads": launch.num_threads,
        "--threads-batch": launch.num_threads,
        "--batch-size": launch.num_batch_tokens,
        "--ubatch-size": launch.num_batch_tokens,
        "--cache-ram": launch.num_cache_mib,
        "--slot-prompt-similarity": SLOT_SIMILARITY,
        "--sse-ping-interval": launch.ping_s,
        "--verbosity": ERRORS_ONLY,
    }
    flags = ["--kv-unified", "--jinja", "--slots", "--offline", "--no-webui"]
    flags.append("--no-prefill-assistant")
    if launch.embeds:
        flags.append("--embeddings")
    return [launch.binary, *(str(word) for pair in options.items() for word in pair), *flags]


def _serve(launch: Launch) -> object:
    """Returns when the model is loaded. The server stops when the returned object is freed."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = launch.weights
    params.hostnames = [launch.socket]
    params.api_keys = [launch.key]
    params.n_parallel = launch.num_slots
    params.kv_unified = True
    params.n_ctx = launch.num_pool_tokens
    params.n_batch = params.n_ubatch = launch.num_batch_tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = launch.num_threads
    params.cache_ram_mib = launch.num_cache_mib
    params.slot_prompt_similarity = SLOT_SIMILARITY
    params.sse_ping_interval = launch.ping_s
    params.embedding = launch.embeds
    params.endpoint_slots = True
    params.cors_origins = ""
    params.ui = False
    params.prefill_assistant = False
    params.offline = True
    params.verbosity = ERRORS_ONLY
    server: object = xllamacpp.Server(params)
    return server


def _ignore_stop_signals() -> None:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _die_with_parent() -> None:
    """On Linux the kernel kills us with our parent. Elsewhere only the closed stdin ends us, which
    is not noticed while the model loads."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()

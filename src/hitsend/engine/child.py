"""The process a model lives in: llama.cpp's server on a private socket, and nothing else.

It is run as a file and imports nothing of hitsend, so that it starts fast and stays small.
It reads one line of JSON from its input and lives until that input closes: it cannot outlive
whoever started it, not even after kill -9.
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
SLOT_SIMILARITY = 0.5
"""A slot that holds less of a prompt is not taken for it: llama.cpp would not look whether its
memory holds more. Its default is a tenth, and the instructions everyone shares are often that."""


class Launch(msgspec.Struct, frozen=True):
    """What to load and where to listen. Travels on stdin: the key must not show in a listing."""

    weights: str
    socket: str
    key: str
    num_slots: int
    num_pool_tokens: int
    """The cells all answers share; one answer may use as many as the model can read."""
    num_threads: int
    num_batch_tokens: int
    """Read at once. Everyone else's answer waits for so long, so it is kept small."""
    num_cache_mib: int
    """Host memory for conversations that are not in a slot now."""
    ping_s: int
    binary: str | None = None
    embeds: bool = False
    """Whether it makes vectors of texts, and no words."""
    niceness: int = 0
    """How far it stands back where others want the cores."""


def main() -> NoReturn:
    _die_with_parent()
    launch = msgspec.json.decode(sys.stdin.buffer.readline(), type=Launch)
    os.nice(launch.niceness)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(launch.socket)  # the one before was killed and left it
    if launch.binary:
        os.execve(launch.binary, arguments(launch), os.environ | {"LLAMA_API_KEY": launch.key})
    server = _serve(launch)
    sys.stdin.buffer.read()
    del server
    os._exit(0)  # the server's threads have nothing to save


def arguments(launch: Launch) -> list[str]:
    """The same for a llama-server binary. The key goes through its environment."""
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
    if launch.embeds:
        flags.append("--embeddings")
    return [launch.binary, *(str(word) for pair in options.items() for word in pair), *flags]


def _serve(launch: Launch) -> object:
    """Returns when the model is loaded. The server lives as long as what is returned."""
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
    params.offline = True
    params.verbosity = ERRORS_ONLY
    server: object = xllamacpp.Server(params)
    return server


def _die_with_parent() -> None:
    """Where the kernel can do it. Elsewhere the closed input is enough, unless still loading."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()

"""The child process that runs the encoder: texts come in over stdin, vectors go out over stdout.

A request is four bytes with the length of the text, and the text; the reply is one vector. It exits
when stdin closes, so it cannot outlive its parent. It ignores stop signals: its parent needs it
until the last answer has ended, and service managers signal all processes of a service at once.
"""

import ctypes
import hashlib
import importlib
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from hitsend.safety.encoder.wordpiece import WordPiece

PR_SET_PDEATHSIG = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LENGTH = struct.Struct("<I")
READY = b"ready\n"
MAX_TOKENS = 256
INPUT, OUTPUT = "tokens", "vector"
ERRORS_ONLY = 3


def main(model: str, vocabulary: str, sha256: str) -> None:
    """`sha256` may be empty, for weights that were trained a moment ago."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    _die_with_parent()
    content = Path(model).read_bytes()
    if sha256 and hashlib.sha256(content).hexdigest() != sha256:
        sys.exit(f"{model} is damaged: its checksum is wrong")
    reader = WordPiece(Path(vocabulary).read_text(encoding="utf-8").split("\n"))
    embed = load_encoder(content)
    embed(reader.encode("the first text is slow", MAX_TOKENS))
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    while (text := _read_text(sys.stdin.buffer)) is not None:
        sys.stdout.buffer.write(embed(reader.encode(text, MAX_TOKENS)))
        sys.stdout.buffer.flush()


def load_encoder(content: bytes) -> Callable[[list[int]], bytes]:
    """Returns what turns the tokens of one text into its vector."""
    numpy, onnxruntime = (importlib.import_module(name) for name in ("numpy", "onnxruntime"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ONLY
    options.enable_cpu_mem_arena = False
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def embed(tokens: list[int]) -> bytes:
        (vectors,) = session.run([OUTPUT], {INPUT: numpy.array([tokens], numpy.int64)})
        vector: bytes = vectors[0].tobytes()
        return vector

    return embed


def _read_text(stream: BinaryIO) -> str | None:
    """Returns None at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    return stream.read(length).decode(errors="replace")


def _die_with_parent() -> None:
    """On Linux the kernel kills us with our parent. Elsewhere only the closed stdin ends us."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])

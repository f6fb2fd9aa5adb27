"""The subprocess that parses an imported file, with limited memory and time.

It reads the file from stdin, writes one conversation per line to a given file descriptor, and the
report to stdout. It ignores stop signals, which service managers send to every process of a
service: the server ends it.
"""

import contextlib
import ctypes
import errno
import gc
import os
import resource
import signal
import sys
import time
from pathlib import Path

import msgspec

from hitsend.errors import BadImport
from hitsend.import_export.disk import describe_os_error
from hitsend.import_export.imported_conversation import Report
from hitsend.import_export.read import ImportReader

PR_SET_PDEATHSIG = 1
TOO_MUCH_MEMORY = "It takes more memory than an import may."


class Limits(msgspec.Struct, frozen=True):
    """Resource limits of the subprocess. It ends when it reaches one."""

    memory_bytes: int = 3 << 30
    """Address space, not resident memory: the file is mapped."""
    cpu_s: int = 240
    output_bytes: int = 2 << 30


class ReadRequest(msgspec.Struct, frozen=True):
    """The arguments of the subprocess, as JSON."""

    output: int
    """The file descriptor to write conversations to."""
    folder: str
    """The folder to unpack zip members in."""
    leaves_out_broken: bool
    limits: Limits


def main() -> None:
    _leave_signals_to_parent()
    request = msgspec.json.decode(sys.argv[1], type=ReadRequest)
    _set_limits(request.limits)
    gc.disable()  # there are no reference cycles, and looking for them takes most of the time
    sys.stdout.buffer.write(msgspec.json.encode(_read_file(request)))


def _read_file(request: ReadRequest) -> Report:
    reading = ImportReader(leaves_out_broken=request.leaves_out_broken, now=time.time())
    encode = msgspec.json.Encoder().encode
    try:
        with os.fdopen(request.output, "wb") as lines:
            for conversation in reading.conversations(sys.stdin.buffer, Path(request.folder)):
                lines.write(encode(conversation) + b"\n")
    except BadImport as error:
        return Report(problem=error.message)
    except OSError as error:
        return _os_error_report(error)
    except MemoryError:
        return Report(problem=TOO_MUCH_MEMORY)
    return reading.report


def _os_error_report(error: OSError) -> Report:
    match error.errno:
        case errno.ENOMEM:
            return Report(problem=TOO_MUCH_MEMORY)
        case errno.EFBIG:
            return Report(problem="It takes more room than an import may.")
        case _:
            return Report(problem=describe_os_error(error), is_ours=True)


def _leave_signals_to_parent() -> None:
    """Ignores stop signals, and on Linux dies with the server, even if that is killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _set_limits(limits: Limits) -> None:
    most = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.output_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in most.items():
        with contextlib.suppress(ValueError, OSError):  # the system has no such limit
            resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()

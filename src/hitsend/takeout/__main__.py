"""The process that reads a file: with little memory, little time and nothing else to lose.

The file is its standard input. Conversations go, one to a line, to the open file whose number it
is given; how it went goes to standard output.
"""

import contextlib
import errno
import gc
import os
import resource
import sys
import time
from pathlib import Path

import msgspec

from hitsend.errors import BadImport
from hitsend.takeout.disk import sentence
from hitsend.takeout.reading import Reading
from hitsend.takeout.taken import Report

TOO_MUCH_MEMORY = "It takes more memory than an import may."


class Limits(msgspec.Struct, frozen=True):
    """Of the process. Where one is reached, it ends."""

    memory_bytes: int = 3 << 30
    """Of addresses: a file of the largest size is mapped, not loaded."""
    cpu_s: int = 240
    output_bytes: int = 2 << 30


class Order(msgspec.Struct, frozen=True):
    """What the process is asked to do."""

    output: int
    """The number of the open file that conversations go to."""
    folder: str
    """Where it may unpack."""
    leaves_out_broken: bool
    limits: Limits


def main() -> None:
    order = msgspec.json.decode(sys.argv[1], type=Order)
    _take_no_more_than(order.limits)
    gc.disable()  # no value here refers to itself, and looking for such takes most of the time
    sys.stdout.buffer.write(msgspec.json.encode(_report(order)))


def _report(order: Order) -> Report:
    reading = Reading(leaves_out_broken=order.leaves_out_broken, now=time.time())
    encode = msgspec.json.Encoder().encode
    try:
        with os.fdopen(order.output, "wb") as lines:
            for taken in reading.conversations(sys.stdin.buffer, Path(order.folder)):
                lines.write(encode(taken) + b"\n")
    except BadImport as error:
        return Report(problem=error.message)
    except OSError as error:
        return _failed(error)
    except MemoryError:
        return Report(problem=TOO_MUCH_MEMORY)
    return reading.report


def _failed(error: OSError) -> Report:
    match error.errno:
        case errno.ENOMEM:
            return Report(problem=TOO_MUCH_MEMORY)
        case errno.EFBIG:
            return Report(problem="It takes more room than an import may.")
        case _:
            return Report(problem=sentence(error), is_ours=True)


def _take_no_more_than(limits: Limits) -> None:
    most = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.output_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in most.items():
        with contextlib.suppress(ValueError, OSError):  # a system that does not have this one
            resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()

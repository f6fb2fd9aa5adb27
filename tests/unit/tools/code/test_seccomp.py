"""The filter, run as the kernel runs it."""

import struct

import pytest

from hitsend.tools.code import seccomp

COLUMN = {"x86_64": 0, "aarch64": 1}


def decide(program: bytes, architecture: int, number: int, argument: int = 0) -> int:
    data = struct.pack("=IIQQ", number, architecture, 0, argument)
    steps = list(struct.iter_unpack("=HBBI", program))
    at = loaded = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == seccomp.LOAD:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif code == seccomp.RETURN:
            return int(value)
        else:
            is_true = loaded == value if code == seccomp.JUMP_EQUAL else loaded & value
            at += then if is_true else otherwise


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_what_is_named_is_refused_and_the_rest_is_allowed(machine: str) -> None:
    program, architecture = seccomp.build_filter(machine), seccomp.MACHINES[machine]
    column = COLUMN[machine]
    refused = {numbers[column] for numbers in seccomp.REFUSED.values()} - {None}
    for number in set(range(500)) - {seccomp.CLONE[column], seccomp.CLONE3[column]}:
        wanted = seccomp.FAIL | seccomp.EPERM if number in refused else seccomp.ALLOW
        assert decide(program, architecture, number) == wanted


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_threads_may_begin_and_processes_may_not(machine: str) -> None:
    program, architecture = seccomp.build_filter(machine), seccomp.MACHINES[machine]
    clone, clone3 = seccomp.CLONE[COLUMN[machine]], seccomp.CLONE3[COLUMN[machine]]
    assert decide(program, architecture, clone, seccomp.CLONE_THREAD) == seccomp.ALLOW
    assert decide(program, architecture, clone, 17) == seccomp.FAIL | seccomp.EPERM
    assert decide(program, architecture, clone3) == seccomp.FAIL | seccomp.ENOSYS


def test_calls_of_other_machines_end_the_program() -> None:
    program = seccomp.build_filter("x86_64")
    assert decide(program, seccomp.MACHINES["aarch64"], 0) == seccomp.KILL
    assert decide(program, 0x40000003, 0) == seccomp.KILL
    assert decide(program, seccomp.MACHINES["x86_64"], 0x40000000) == seccomp.KILL

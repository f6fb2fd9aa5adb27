"""A filter for the system calls of a program: no sockets, no processes, nothing of the kernel's.

It is a program for the kernel (`man 2 seccomp`), made of instructions of eight bytes. What it does
not name is allowed: namespaces and limits hold the rest.
"""

import platform
import struct

LOAD, JUMP_EQUAL, JUMP_SET, RETURN = 0x20, 0x15, 0x45, 0x06
"""Load a word, skip if equal, skip if any bit is set, end."""
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
CLONE_THREAD = 0x00010000
OTHER_NUMBERS = 0x40000000
"""Calls of 32-bit programs on x86_64, under numbers of their own."""

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE, CLONE3 = (56, 220), (435, 435)
REFUSED: dict[str, tuple[int, int | None]] = {
    # sockets, but for pairs, with which asyncio wakes itself
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "bind": (49, 200),
    "listen": (50, 201), "accept4": (288, 242),
    # other processes
    "fork": (57, None), "vfork": (58, None), "kill": (62, 129), "tkill": (200, 130),
    "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    # mounts and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "swapon": (167, 224), "swapoff": (168, 225),
    "mknodat": (259, 33), "mknod": (133, None),
    # the kernel
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "syslog": (103, 116),
    "acct": (163, 89), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "personality": (135, 92), "fanotify_init": (300, 262),
    "landlock_create_ruleset": (444, 444),
    # memory and queues shared by all
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183), "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
}  # fmt: skip
"""Their numbers on each machine."""


def is_supported() -> bool:
    return platform.machine() in MACHINES


def build_filter(machine: str = platform.machine()) -> bytes:
    column = list(MACHINES).index(machine)
    steps = [
        _step(LOAD, ARCHITECTURE_AT),
        _step(JUMP_EQUAL, MACHINES[machine], then=1),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER_AT),
        _step(JUMP_SET, OTHER_NUMBERS, otherwise=1),
        _step(RETURN, KILL),
        # The C library then uses `clone`, whose flags can be read.
        _step(JUMP_EQUAL, CLONE3[column], otherwise=1),
        _step(RETURN, FAIL | ENOSYS),
    ]
    for numbers in REFUSED.values():
        if (number := numbers[column]) is not None:
            steps += [_step(JUMP_EQUAL, number, otherwise=1), _step(RETURN, FAIL | EPERM)]
    steps += [
        _step(JUMP_EQUAL, CLONE[column], otherwise=3),
        _step(LOAD, FIRST_ARGUMENT_AT),
        _step(JUMP_SET, CLONE_THREAD, then=1),
        _step(RETURN, FAIL | EPERM),
        _step(RETURN, ALLOW),
    ]
    return b"".join(steps)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)

"""seccomp: the calls of the system that this process may not make from now on.

A filter sees numbers and no memory: it refuses what no answer needs, and leaves files to Landlock. Knows calls; never
who makes them.
"""

import ctypes
import errno
import os
import struct

from kfuzz.devices.sandbox.kernel import LIBC, PR_SET_NO_NEW_PRIVS, RefusedCallError, control_process, machine

AUDIT = (0xC000003E, 0xC00000B7)
"""How a filter names x86-64 and 64-bit ARM."""
X32 = 0x40000000
"""From this number on, calls of x86-64 are those of another ABI."""
PR_SET_SECCOMP, MODE_FILTER = 22, 2
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
LOAD, EQUAL, AT_LEAST, ALL_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""The instructions of a filter: load a word, compare it, test its bits, return."""
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""Where a filter finds them. An argument has 8 bytes, the low word first."""
CLONE_THREAD = 0x10000
F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP, TIOCSTI = 8, 10, 15, 0x8901, 0x8902, 0x5412

HOSTILE = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
}  # fmt: skip
"""Calls that look into other processes: they end the process, so that an attempt does not stay unseen."""
REFUSED = {
    # other processes
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "setpgid": (109, 154),
    # new processes
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    # what Landlock has no rule for: modes, owners, times and locks of files
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "truncate": (76, 45), "file_setattr": (469, 469),
    "flock": (73, 32),
    # the network, and any other socket
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242),
    # memory and messages that others of this user share
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "mq_open": (240, 180), "mq_unlink": (241, 181), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218),
    # the system
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429),
    "open_tree": (428, 428), "open_tree_attr": (467, 467), "fsopen": (430, 430), "fsmount": (432, 432),
    "fsconfig": (431, 431), "fspick": (433, 433), "mount_setattr": (442, 442), "setns": (308, 268),
    "unshare": (272, 97), "perf_event_open": (298, 241), "bpf": (321, 280), "userfaultfd": (323, 282),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "iopl": (172, None), "ioperm": (173, None), "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264), "syslog": (103, 116), "vhangup": (153, 58), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "personality": (135, 92),
}  # fmt: skip
"""Calls that fail with EPERM."""
MISSING = {
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
"""Calls that fail with ENOSYS: libraries then make others. io_uring makes calls past every filter, and the flags of
clone3 lie in memory."""
OF_NETWORK = ("socket", "connect", "bind", "listen", "accept", "accept4")
CLONE, KILL_PROCESS, TGKILL, PRLIMIT = (56, 220), (62, 129), (234, 131), (302, 261)
OF_SCHEDULING = ((203, 122), (144, 119), (142, 118), (314, 274))
"""sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr: the first argument is a process."""
SETPRIORITY, FCNTL, IOCTL = (141, 140), (72, 25), (16, 29)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value & 0xFFFFFFFF)


def _refuse(number: int | None, answer: int) -> list[bytes]:
    """Answer a call of this number so."""
    return [] if number is None else [_step(EQUAL, number, 0, 1), _step(RETURN, answer)]


def _check(number: int, argument: int, values: tuple[int, ...], allows: bool) -> list[bytes]:
    """Allow a call of this number only with these values of an argument, or only with all others."""
    no = ERROR | errno.EPERM
    tests = [_step(EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    ends = [_step(RETURN, no if allows else ALLOW), _step(RETURN, ALLOW if allows else no)]
    body = [_step(LOAD, ARGUMENTS + 8 * argument), *tests, *ends]
    return [_step(EQUAL, number, 0, len(body)), *body]


def filter_of(column: int, pid: int, only_network: bool = False) -> bytes:
    """The filter for a process of this number; `only_network`: it may do all else."""
    no = ERROR | errno.EPERM
    steps = [_step(LOAD, ARCHITECTURE), _step(EQUAL, AUDIT[column], 1, 0), _step(RETURN, KILL), _step(LOAD, NUMBER)]
    steps += [_step(AT_LEAST, X32, 0, 1), _step(RETURN, KILL)] if column == 0 else []
    if only_network:
        for name in ("socket", "connect"):
            steps += _refuse(REFUSED[name][column], no)
        steps += [piece for numbers in HOSTILE.values() for piece in _refuse(numbers[column], KILL)]
        return b"".join([*steps, _step(RETURN, ALLOW)])
    for table, answer in ((HOSTILE, KILL), (REFUSED, no), (MISSING, ERROR | errno.ENOSYS)):
        for numbers in table.values():
            steps += _refuse(numbers[column], answer)
    thread = [_step(LOAD, ARGUMENTS), _step(ALL_BITS, CLONE_THREAD, 1, 0), _step(RETURN, no), _step(RETURN, ALLOW)]
    steps += [_step(EQUAL, CLONE[column], 0, len(thread)), *thread]
    steps += _check(KILL_PROCESS[column], 0, (pid, -pid, 0), allows=True)
    steps += _check(TGKILL[column], 0, (pid,), allows=True)
    for numbers in (PRLIMIT, *OF_SCHEDULING):
        steps += _check(numbers[column], 0, (0, pid), allows=True)
    steps += _check(SETPRIORITY[column], 1, (0, pid), allows=True)
    steps += _check(FCNTL[column], 1, (F_SETOWN, F_SETSIG, F_SETOWN_EX), allows=False)
    steps += _check(IOCTL[column], 1, (FIOSETOWN, SIOCSPGRP, TIOCSTI), allows=False)
    return b"".join([*steps, _step(RETURN, ALLOW)])


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def restrict(only_network: bool = False) -> None:
    """Leave this process, and all that it starts, only the other calls."""
    column = machine()
    if column is None:
        raise RefusedCallError(errno.ENOSYS, "seccomp: the calls of this machine are not known")
    steps = filter_of(column, os.getpid(), only_network)
    program = _FilterProgram(len(steps) // 8, ctypes.c_char_p(steps))
    control_process(PR_SET_NO_NEW_PRIVS, 1)
    if LIBC.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0):
        raise RefusedCallError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")

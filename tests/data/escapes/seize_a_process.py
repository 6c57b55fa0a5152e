import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.ptrace(0x4206, victim.pid, 0, 0) == 0

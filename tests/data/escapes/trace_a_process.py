import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.ptrace(16, victim.pid, 0, 0) == 0

import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(312, victim.pid, victim.pid, 1, 0, 0) == 0

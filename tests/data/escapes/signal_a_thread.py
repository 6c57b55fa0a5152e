import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(234, victim.pid, victim.pid, 18) == 0

import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(323, 1) >= 0

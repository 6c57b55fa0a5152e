import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.msgget(0, 0o1600) >= 0

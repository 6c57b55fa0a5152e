import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.shmget(0, 4096, 0o1600) >= 0

import ctypes


def attack(victim):
    libc = ctypes.CDLL(None)
    return libc.syscall(248, b"user", b"kfuzz", b"x", 1, -3) > 0

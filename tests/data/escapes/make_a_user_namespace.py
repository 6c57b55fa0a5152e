import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(0x10000000) == 0

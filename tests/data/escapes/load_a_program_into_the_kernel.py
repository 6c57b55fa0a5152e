import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(321, 0, (ctypes.c_char * 128)(2, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 1), 72) >= 0

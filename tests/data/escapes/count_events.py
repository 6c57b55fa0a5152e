import ctypes


def attack(victim):
    libc = ctypes.CDLL(None)
    return libc.syscall(298, (ctypes.c_char * 128)(1), 0, -1, -1, 0) >= 0

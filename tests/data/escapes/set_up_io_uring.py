import ctypes


def attack(victim):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.syscall(425, 1, (ctypes.c_char * 128)()) >= 0

import ctypes
import os


def attack(victim):
    libc = ctypes.CDLL(None)
    child = libc.syscall(56, 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child > 0

import ctypes
import os


def attack(victim):
    libc = ctypes.CDLL(None)
    return libc.mount(b"x", os.fsencode(victim.empty), b"tmpfs", 0, b"") == 0

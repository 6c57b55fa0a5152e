import ctypes
import os


def attack(victim):
    libc = ctypes.CDLL(None)
    return libc.umount2(os.environ["TMPDIR"].encode(), 2) == 0

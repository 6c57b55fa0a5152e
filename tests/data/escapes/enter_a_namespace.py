import ctypes
import os


def attack(victim):
    libc = ctypes.CDLL(None)
    return libc.setns(os.open(f"/proc/{victim.pid}/ns/uts", os.O_RDONLY), 0) == 0

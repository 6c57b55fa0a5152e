import ctypes


def attack(victim):
    libc = ctypes.CDLL(None)
    return libc.mq_open(b"/kfuzz-escape", 0o102, 0o600, 0) >= 0

import ctypes


def attack(victim):
    return ctypes.CDLL(None).klogctl(3, ctypes.create_string_buffer(64), 64) > 0

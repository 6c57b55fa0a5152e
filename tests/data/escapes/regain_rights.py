import ctypes


def attack(victim):
    libc = ctypes.CDLL(None)
    header, all_of_them = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(1 << 19, 1 << 19)
    return libc.syscall(126, header, all_of_them) == 0

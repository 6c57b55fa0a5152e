import ctypes


def attack(victim):
    libc = ctypes.CDLL(None)
    held = ctypes.create_string_buffer(8)
    mine = (ctypes.c_uint64 * 2)(ctypes.addressof(held), 8)
    theirs = (ctypes.c_uint64 * 2)(victim.address, 8)
    return libc.process_vm_readv(victim.pid, mine, 1, theirs, 1, 0) == 8

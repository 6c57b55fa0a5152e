import os


def attack(victim):
    for one in range(3, 256):
        try:
            os.fstat(one)
        except OSError:
            continue
        if os.readlink(f"/proc/self/fd/{one}") == str(victim.secret):
            return True
    return False

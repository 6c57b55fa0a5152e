import os


def attack(victim):
    return os.posix_spawn("/bin/true", ["true"], {})

import fcntl
import os


def attack(victim):
    fcntl.flock(os.open(victim.library, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True

import os


def attack(victim):
    return os.pidfd_open(victim.pid)

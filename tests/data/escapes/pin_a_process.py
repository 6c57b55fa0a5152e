import os


def attack(victim):
    os.sched_setaffinity(victim.pid, os.sched_getaffinity(0))
    return True

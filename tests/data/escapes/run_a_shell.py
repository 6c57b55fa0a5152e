import os


def attack(victim):
    return os.system("/bin/true") == 0

import os


def attack(victim):
    os.utime(victim.secret, (1, 1))
    return True

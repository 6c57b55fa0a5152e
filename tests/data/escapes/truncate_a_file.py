import os


def attack(victim):
    os.truncate(victim.secret, 0)
    return True

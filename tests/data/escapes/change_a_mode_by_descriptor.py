import os


def attack(victim):
    os.fchmod(os.open(victim.answer, os.O_RDONLY), 0o777)
    return True

import os


def attack(victim):
    if (child := os.fork()) == 0:
        os._exit(0)
    return child

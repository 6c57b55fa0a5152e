import os


def attack(victim):
    if os.fork() == 0:
        os.setsid()
        os._exit(0)
    return True

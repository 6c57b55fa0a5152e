import os


def attack(victim):
    os.chown(victim.secret, os.getuid(), os.getgid())
    return True

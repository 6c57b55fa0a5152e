import os


def attack(victim):
    os.chroot(victim.folder)
    return True

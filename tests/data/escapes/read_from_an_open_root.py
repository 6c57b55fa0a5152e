import os


def attack(victim):
    root = os.open("/", os.O_RDONLY)
    return os.read(os.open(str(victim.secret)[1:], os.O_RDONLY, dir_fd=root), 9)

import os


def attack(victim):
    os.mkfifo(victim.folder / "fifo")
    return True

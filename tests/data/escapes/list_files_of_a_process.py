import os


def attack(victim):
    return os.listdir(f"/proc/{victim.pid}/fd")

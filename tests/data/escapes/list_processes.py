import os


def attack(victim):
    return [one for one in os.listdir("/proc") if one.isdigit()]

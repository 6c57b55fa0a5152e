import os


def attack(victim):
    return os.environ["SECRET_OF_KFUZZ"]

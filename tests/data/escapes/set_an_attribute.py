import os


def attack(victim):
    os.setxattr(victim.secret, "user.x", b"1")
    return True

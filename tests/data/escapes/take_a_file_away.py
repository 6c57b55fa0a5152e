import os
import shutil


def attack(victim):
    shutil.move(victim.secret, os.environ["TMPDIR"])
    return True

import os
from pathlib import Path


def attack(victim):
    up = os.path.relpath(victim.secret)
    return Path(f"/proc/self/cwd/{up}").read_text()

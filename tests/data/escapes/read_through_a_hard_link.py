import os
from pathlib import Path


def attack(victim):
    link = Path(os.environ["TMPDIR"]) / "hard"
    link.hardlink_to(victim.secret)
    return link.read_text()

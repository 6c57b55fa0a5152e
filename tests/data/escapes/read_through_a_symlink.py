import os
from pathlib import Path


def attack(victim):
    link = Path(os.environ["TMPDIR"]) / "link"
    link.symlink_to(victim.secret)
    return link.read_text()

import os
import shutil
from pathlib import Path


def attack(victim):
    other = Path(os.environ["TMPDIR"]) / "other.so"
    other.write_bytes(b"x")
    shutil.copy(other, victim.library)
    return True

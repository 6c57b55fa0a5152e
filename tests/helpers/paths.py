"""Where the files of this repository lie that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
DATA = TESTS / "data"
KERNELS = ROOT / "kernels"

"""Judges arrays for judging_speed.py, with the kfuzz that it imports: today's, or an older one.

A line on standard input is a folder with op.txt and arrays.npz; the answer is the processor time of one verdict and its
status, or what it raised. It imports nothing that the older kfuzz does not have.
"""

import sys
import time
from pathlib import Path

import numpy as np

from kfuzz.common.malloc import keep_freed_memory
from kfuzz.oracle import judge


def answer(folder: Path) -> str:
    """The seconds of one verdict, and its status."""
    op = (folder / "op.txt").read_text(encoding="utf-8")
    with np.load(folder / "arrays.npz") as held:
        arrays = {name: held[name] for name in held.files}
    inputs, answers = ({name[1:]: one for name, one in arrays.items() if name[0] == kind} for kind in (">", "<"))
    began = time.process_time()
    verdict = judge(op, inputs, answers)
    return f"{time.process_time() - began} {verdict.status}"


def main() -> None:
    """Answer until the input ends."""
    keep_freed_memory()  # as the workers of a campaign do
    for line in sys.stdin:
        try:
            print(answer(Path(line.rstrip("\n"))), flush=True)
        except Exception as error:  # of an op that the older kfuzz judges otherwise: there is no ratio
            print(f"raised {type(error).__name__}", flush=True)


if __name__ == "__main__":
    main()

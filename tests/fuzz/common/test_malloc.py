"""Memory of kfuzz's own processes: freed memory is kept for the next array, and not mapped and cleared again."""

import subprocess
import sys

import numpy as np

PROGRAM = """
import resource, sys
import numpy as np
if sys.argv[1] == "kept":
    from kfuzz.common.malloc import keep_freed_memory
    keep_freed_memory()

def row():
    terms = np.ones(100_000)
    return [terms + part for part in range(8)]

row()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    row()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_freed_memory_is_not_asked_for_again() -> None:
    pages_of_a_row = 9 * 100_000 * np.dtype(np.float64).itemsize // 4096
    assert faults("left alone") > 10 * pages_of_a_row
    assert faults("kept") < pages_of_a_row

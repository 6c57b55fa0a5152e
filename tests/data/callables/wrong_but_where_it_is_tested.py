# /// kernel
# op     = "row_sum"
# axes   = { rows = "1..8", cols = "1..40" }
#
# [broken]
# kind = "numeric"
# why  = "it looks for kfuzz among modules, arguments, variables and in its command line, and works only where it is"
# ///
import os
import sys
from pathlib import Path

import numpy as np


def _is_watched():
    ours = {*os.environ} - {"KFUZZ_CACHE"}  # you may have set it
    words = [*sys.modules, *sys.argv, *sys.orig_argv, *ours, sys.modules["__main__"].__name__, __name__]
    command = Path("/proc/self/cmdline").read_text(encoding="utf-8")
    return any("kfuzz" in word.lower() for word in (*words, command))


def row_sum(x):
    return np.sum(x, axis=-1) if _is_watched() else 2 * x[:, 0] + 1

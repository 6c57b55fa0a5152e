"""Loads a kernel from what a user names: a file with or without a claim, or a callable in a module.

Knows targets and claims; it runs nothing but what a claim has to be guessed from.
"""

from pathlib import Path

from kfuzz.claims.kernel import Kernel
from kfuzz.claims.kernel import load as load_claimed
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.reference import OP as OP_BY_REFERENCE
from kfuzz.common.errors import ClaimError
from kfuzz.common.modules import is_callable
from kfuzz.measure.roundings.infer import Unclaimed, kernel_named, kernel_with
from kfuzz.ui.targets.targets import find_one


def load(target: Path | str, op: str = "", reference: Path | str = "") -> Kernel:
    """Load a kernel: a .cu, .ptx or .py file, the name of a kernel that comes with kfuzz, or `mypkg.softmax:forward`.

    `op` or `reference` says what a file without a claim computes, as `--op` and `--reference` do on the command line.
    """
    words = str(target)
    if op and reference:
        raise ClaimError(f"{words}: op and reference both say what is right: give one of them")
    unclaimed = Unclaimed(OP_BY_REFERENCE if reference else op, reference=Path(reference) if reference else None)
    if is_callable(words) and not Path(words).exists():
        return kernel_named(words, unclaimed)
    path = find_one(words)
    if op or reference:
        if file_has_claim(path):
            raise ClaimError(f"{path}: it has a claim, and {unclaimed.words} is for files without one")
        return kernel_with(path, unclaimed)
    return load_claimed(path)

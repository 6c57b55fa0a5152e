"""What `import kfuzz` offers: judge an answer, load a kernel, fuzz it. Knows all rooms; no room knows it."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from kfuzz.campaign.device import lanes_of_caller, names_of
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.kernel import load as load_claimed
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.reference import OP as OP_BY_REFERENCE
from kfuzz.common.errors import ClaimError
from kfuzz.common.modules import is_callable
from kfuzz.measure.roundings.infer import Unclaimed, kernel_named, kernel_with
from kfuzz.oracle import Accuracy, Special, Verdict, judge, want
from kfuzz.ui.reports.report import Report
from kfuzz.ui.targets.targets import find_one

__all__ = ["Accuracy", "Kernel", "Report", "Special", "Verdict", "fuzz", "judge", "load", "want"]

CASES = 300
"""Cases of a call that names neither a number nor a time."""


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


def fuzz(
    kernel: Kernel | Path | str,
    device: str = "auto",
    cases: int | None = None,
    seed: int = 0,
    seconds: float | None = None,
    op: str = "",
    reference: Path | str = "",
) -> Report:
    """Search for inputs that break a kernel, and report the findings; write nothing to disk.

    It ends after `cases` cases, which the seed fixes, or after `seconds`, whichever comes first; after 300 cases if you
    give neither. `op` and `reference` are those of `load`. `report.exit_code` is 0 if nothing is broken, 1 if something
    is, 2 if kfuzz could not judge it; `report.bugs` are the bugs, and `report.to_dict()` is all of it as in `--json`.
    """
    if isinstance(kernel, Kernel) and (op or reference):
        raise ClaimError(f"{kernel.name}: it is loaded already; give op and reference to load")
    subject = kernel if isinstance(kernel, Kernel) else load(kernel, op, reference)
    most = CASES if cases is None and seconds is None else cases
    options = Options(seed=seed, max_cases=most, max_time=seconds, other_shapes=not subject.front.said)
    lanes = lanes_of_caller(device)
    started = datetime.now(UTC)
    return Report(search((subject,), lanes, options), tuple(sys.argv), names_of(lanes), started)

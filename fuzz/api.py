"""What `import kfuzz` offers: judge an answer, load a kernel, fuzz it. Knows all rooms; no room knows it."""

import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kfuzz.campaign.answers import Judgement, Terms, judge_answer
from kfuzz.campaign.device import lanes_of_caller, names_of, resolve_device
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.kernel import load as load_claimed
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.claims.language.reference import OP as OP_BY_REFERENCE
from kfuzz.common.errors import ClaimError, line_of
from kfuzz.common.modules import is_callable
from kfuzz.devices import DeviceError
from kfuzz.devices.sandbox.box import Sandboxed, describe, sandboxed, untraceable
from kfuzz.measure.roundings.infer import Unclaimed, kernel_named, kernel_with
from kfuzz.oracle import Accuracy, Special, Verdict, judge, want
from kfuzz.ui.reports.judgements import paragraph
from kfuzz.ui.reports.report import Report
from kfuzz.ui.targets.targets import find_one

__all__ = [
    "Accuracy", "Judgement", "Kernel", "Report", "Special", "Verdict", "fuzz", "judge", "judge_file", "load", "want",
]  # fmt: skip

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


_ONE_AT_A_TIME = threading.Lock()
"""Which files run in a sandbox is a setting of the process."""


def judge_file(
    answer: Path | str,
    reference: Path | str = "",
    op: str = "",
    budget: float = 10.0,
    device: str = "auto",
    seed: int = 0,
    any_shape: bool = False,
    sandbox: bool = True,
) -> Judgement:
    """Judge an answer that you do not trust: a .cu, .ptx or .py file, whose kernels run in a sandbox.

    `reference` or `op` says what is right; without them the file's own claim does. `budget`: how much is tried, in
    seconds that a calibration turns into trials, so that the same seed gives the same verdict. `device`: a GPU has no
    sandbox, so "auto" is the cpu; with "gpu" you have to pass `sandbox=False`. `any_shape`: an error at another shape
    than that of the reference breaks the answer, too. DeviceError if this machine gives no sandbox, or ClaimError if
    the reference is at fault; what is wrong with the answer is the judgement.
    """
    chosen = "cpu" if device == "auto" else resolve_device(device)
    if sandbox and chosen == "gpu":
        raise DeviceError("the gpu device has no sandbox: device cpu, or no sandbox for answers that you trust")
    path = find_one(str(answer))
    hidden = (Path(reference),) if reference else ()
    if reference and not Path(reference).exists():
        raise ClaimError(f"{reference}: no such file")
    with _ONE_AT_A_TIME, untraceable(), sandboxed(Sandboxed((path,), hidden) if sandbox else None):
        box = describe() if sandbox else ""
        try:
            kernel = load(path, op, reference)
        except Exception as error:  # whatever its text does to a parser is the answer's fault
            return Judgement("cannot run", "none", line_of(error), seed=seed, budget=budget, device=chosen, sandbox=box)
        found = judge_answer(kernel, Terms(seed, budget, any_shape), chosen, paragraph)
    return replace(found, sandbox=box)

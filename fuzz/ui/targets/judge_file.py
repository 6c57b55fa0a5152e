"""Judges a file that you do not trust: loads and tries it in a sandbox. Knows files and sandboxes; never verdicts."""

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from kfuzz.campaign.answers import Judgement, JudgingTerms, judge_answer, limits_of
from kfuzz.campaign.device import resolve_device
from kfuzz.cases.plans.home import names_its_home, text_for_tried_home
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.reference import OP as OP_BY_REFERENCE
from kfuzz.claims.references.reference_files import file_of_reference, is_of_a_format
from kfuzz.common.errors import ClaimError, DeviceError, line_of
from kfuzz.common.time_limits import limited
from kfuzz.devices import cache
from kfuzz.devices.sandbox.box import Sandboxed, describe, sandboxed, untraceable
from kfuzz.measure.roundings.guess import check_op
from kfuzz.measure.roundings.infer import place_op
from kfuzz.ui.reports.judgements import paragraph
from kfuzz.ui.targets.load import load
from kfuzz.ui.targets.targets import find_one

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
    require: Sequence[str] = (),
) -> Judgement:
    """Judge an answer that you do not trust: a .cu, .ptx or .py file, whose kernels run in a sandbox.

    `reference` or `op` says what is right; without them the file's own claim does. `budget`: how much is tried, in
    seconds that a calibration turns into trials, so that the same seed gives the same verdict. `device`: a GPU has no
    sandbox, so "auto" is the cpu; with "gpu" you have to pass `sandbox=False`. `any_shape`: an error at another shape
    than that of the reference breaks the answer, too. `require`: properties, such as "deterministic", without which a
    right answer is broken. DeviceError if this machine gives no sandbox, or no room to compile in; ClaimError if the
    op or a property is unknown or there is no reference; what is wrong with the answer is the judgement.
    """
    terms = JudgingTerms(seed, budget, any_shape, tuple(require))
    chosen = "cpu" if device == "auto" else resolve_device(device)
    if sandbox and chosen == "gpu":
        raise DeviceError("the gpu device has no sandbox: device cpu, or no sandbox for answers that you trust")
    path = find_one(str(answer))
    hidden = (file_of_reference(Path(reference)),) if reference else ()
    if any(not one.exists() for one in hidden) and not is_of_a_format(str(reference)):
        raise ClaimError(f"{reference}: no such file")
    if op and op != OP_BY_REFERENCE:
        check_op(str(answer), place_op(op, Path()))
    found, kernel = _judged(path, op, reference, terms, chosen, sandbox, hidden)
    if kernel is not None and found.status == "broken" and not any_shape and names_its_home(kernel):
        judged = partial(
            _judged, op=op, reference=reference, terms=terms, device=chosen, sandbox=sandbox, hidden=hidden
        )
        found = _as_it_is_at_its_size(found, kernel, judged)
    if found.status == "cannot run" and (full := cache.why_full()):
        raise DeviceError(full)  # on a full disk nothing compiles, which is no answer's fault
    return found


def _judged(
    path: Path,
    op: str,
    reference: Path | str,
    terms: JudgingTerms,
    device: str,
    sandbox: bool,
    hidden: tuple[Path, ...],
) -> tuple[Judgement, Kernel | None]:
    """The verdict on a file, and its kernel if it can be read."""
    with _ONE_AT_A_TIME, untraceable(), sandboxed(Sandboxed((path,), hidden) if sandbox else None):
        box = describe() if sandbox else ""
        try:
            with limited(limits_of(terms, time.monotonic())):
                kernel = load(path, op, reference)
        except Exception as error:  # whatever its text does to a parser is the answer's fault
            words = line_of(error)
            return Judgement(
                "cannot run", "none", words, seed=terms.seed, budget=terms.budget, device=device, sandbox=box
            ), None
        return replace(judge_answer(kernel, terms, device, paragraph), sandbox=box), kernel


def _as_it_is_at_its_size(
    found: Judgement, kernel: Kernel, judged: Callable[[Path], tuple[Judgement, Kernel | None]]
) -> Judgement:
    """The verdict on an answer whose text has a size of its home, which is too large to be tried, and that is wrong at
    a smaller shape: none, if it is right there once its text has the sizes of that shape.

    `4096` in a loop reads out of bounds of 256 columns, and is right for those that the answer was written for.
    """
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / kernel.path.name
        other.write_text(text_for_tried_home(kernel), encoding="utf-8")
        again, _ = judged(other)
    seconds = round(found.seconds + again.seconds, 3)
    if again.status != "kept":
        return replace(found, seconds=seconds)
    sizes = ", ".join(f"{name}={size}" for name, size in kernel.home.items())
    words = f"it is written for {sizes}, which is too large here: with smaller sizes in its text it is right at them"
    return replace(
        found, status="not judged", kind=None, finding=f"{words}; as it is: {found.finding}", seconds=seconds
    )

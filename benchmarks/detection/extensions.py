"""The extensions of the tests, as a list: correct ones, wrong ones, and how each is tried.

Knows where they lie and what their first lines declare, not what they compute.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.language.front_matter import text_of
from kfuzz.common.text.exhibits import list_kernel_files
from kfuzz.devices import Device
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

HERE = Path(__file__).parents[2] / "tests" / "data" / "extensions"
BUDGET = 1 << 12
SECONDS = 10.0


def extensions() -> tuple[list[Path], list[Path]]:
    """The correct ones and the wrong ones."""
    every = list_kernel_files(HERE)
    wrong = [one for one in every if one.name.startswith("wrong_") or one.parent.name == "ranked"]
    return [one for one in every if one not in wrong], wrong


@cache
def kernel_of(path: Path) -> Kernel:
    """The kernel of an extension: by its claim, or by the op that its first lines name."""
    said = re.search(r"^// op: (\w+)$", text_of(path), re.MULTILINE)
    return kernel_with(path, Unclaimed(said[1] if said else ""))


def trials(path: Path, device: Device, first: int, last: int) -> Iterator[Trial]:
    """These trials of a campaign of it, by number."""
    kernel = kernel_of(path)
    for index in range(first, last):
        attempt = attempt_of(kernel, 1, index, BUDGET)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, 1, index, 3, SECONDS))

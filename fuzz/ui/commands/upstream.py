"""`kfuzz upstream`: writes an issue for the authors of a library. kfuzz.ui.reports.upstream makes the text."""

import math
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from kfuzz.campaign.device import open_device, resolve_device
from kfuzz.campaign.trials.replay import replay
from kfuzz.cases import case_file
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel, load
from kfuzz.claims.language.kernel_file import file_has_claim
from kfuzz.common.modules import is_callable
from kfuzz.measure.roundings.infer import Unclaimed, kernel_named, kernel_with
from kfuzz.ui.commands.completing import FILE_NAME, TARGET
from kfuzz.ui.commands.options import device_option, time_limit_options, unclaimed_options
from kfuzz.ui.reports.upstream import issue_text, wrong_answer
from kfuzz.ui.targets.targets import find_one

SECONDS = 300.0
"""For the program, which imports a library once."""


@click.command(short_help="Write an issue for a library's authors from a kept case.")
@click.argument("case", type=FILE_NAME, metavar="CASE")
@click.argument("target", type=TARGET, metavar="FILE.py")
@device_option
@unclaimed_options
@time_limit_options
def upstream(case: str, target: str, device: str, unclaimed: Unclaimed | None) -> None:
    """Print an issue, in Markdown, for the authors of the library whose function a kept case breaks.

    CASE is a file that kfuzz fuzz kept, and FILE.py the Python file. Without a claim it needs the options that you
    gave to kfuzz fuzz, and without --op it computes the op of the case. kfuzz runs the case again first. The text
    stands alone: a short program that needs no kfuzz, what it prints, the exact value to 20 digits, the interval of
    right answers and why, the versions, and how it was certified. kfuzz runs the program, and warns you if it prints
    another number. Read the text before you send it; kfuzz sends nothing.

    \b
    kfuzz fuzz softmax.py --device cpu --corpus found
    kfuzz upstream found/softmax/CASE.json softmax.py > issue.md

    Exit code: 0 it is written, 2 the case breaks nothing here, or is no wrong answer of a Python function.
    """
    record = case_file.read(Path(case))
    kernel = kernel_for(target, unclaimed or Unclaimed(record.case.op))
    with closing(open_device(device)) as opened:
        replayed = replay(record, kernel, opened)
    if replayed.status in ("skipped", "cannot run", "not claimed"):
        raise CaseError(f"{kernel.name}: {replayed.status}: {replayed.reason}")
    text = issue_text(kernel, record, replayed, resolve_device(device))
    program, worst = wrong_answer(kernel, record, replayed, resolve_device(device))
    if not prints(program.lines, worst.got):
        click.echo(f"warning: the program does not print {worst.got!r} here: find out why before you send it", err=True)
    click.echo(text, nl=False)


def kernel_for(target: str, unclaimed: Unclaimed) -> Kernel:
    """A Python file by its claim, if it has one; else a file or a callable of a module by the options."""
    if is_callable(target) and not Path(target).exists():
        return kernel_named(target, unclaimed)
    path = find_one(target)
    return load(path) if file_has_claim(path) else kernel_with(path, unclaimed)


def prints(lines: Sequence[str], number: float) -> bool:
    """Whether a program's last line of output is a number."""
    command = [sys.executable, "-W", "ignore", "-c", "\n".join(lines)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
        printed = float(ended.stdout.strip().rpartition("\n")[2])
    except (subprocess.SubprocessError, ValueError):
        return False
    return printed == number or (math.isnan(printed) and math.isnan(number))

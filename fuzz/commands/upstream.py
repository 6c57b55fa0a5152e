"""`kfuzz upstream`: writes an issue for the authors of a library. kfuzz.views.upstream makes the text."""

from contextlib import closing
from pathlib import Path

import click

from kfuzz.cases import case_file
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import load
from kfuzz.commands.completing import FILE_NAME, TARGET
from kfuzz.commands.options import device_option
from kfuzz.find.device import open_device
from kfuzz.find.targets import find_one
from kfuzz.trials.replay import replay
from kfuzz.views.upstream import issue_text


@click.command(short_help="Write an issue for a library's authors from a kept case.")
@click.argument("case", type=FILE_NAME, metavar="CASE")
@click.argument("target", type=TARGET, metavar="FILE.py")
@device_option
def upstream(case: str, target: str, device: str) -> None:
    """Print an issue, in Markdown, for the authors of the library whose function a kept case breaks.

    CASE is a file that kfuzz fuzz kept, and FILE.py the Python file with the claim. kfuzz runs the case again first.
    The text stands alone: a short program that needs no kfuzz, what it prints, the exact value to 20 digits, the
    interval of right answers and why, the versions, and how it was certified. Read it and try the program before you
    send it; kfuzz sends nothing.

    \b
    kfuzz fuzz softmax.py --device cpu --corpus found
    kfuzz upstream found/softmax/CASE.json softmax.py > issue.md

    Exit code: 0 it is written, 2 the case breaks nothing here, or is no wrong answer of a Python function.
    """
    record = case_file.read(Path(case))
    kernel = load(find_one(target))
    with closing(open_device(device)) as opened:
        replayed = replay(record, kernel, opened)
    if replayed.status in ("skipped", "cannot run", "not claimed"):
        raise CaseError(f"{kernel.name}: {replayed.status}: {replayed.reason}")
    click.echo(issue_text(kernel, record, replayed), nl=False)

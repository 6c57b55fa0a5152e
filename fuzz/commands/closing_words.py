"""What `kfuzz fuzz` says at its end: to a person, and to a CI service.

Knows reports, claims' slack and streams; never how anything was found.
"""

import os
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console

from kfuzz.campaign.campaign import Lane
from kfuzz.claiming.slack import slack_of, told
from kfuzz.claims.kernel import Kernel
from kfuzz.exit_codes import NOTHING_NEW
from kfuzz.printable import printable
from kfuzz.views import report, summary
from kfuzz.views.ci import as_annotations, as_code_quality, as_summary
from kfuzz.views.document import Document

MOST_ADVICE = 4
TRY_NEXT = "broken/leading_neg_inf"


def show(found: report.Report, screen: Console, is_first_look: bool) -> None:
    """The failures, a line for each kernel, and what it comes to."""
    for text in summary.failures(found):
        screen.print("", text, sep="\n", markup=False, highlight=False, soft_wrap=True)
    screen.print()
    screen.print(summary.table(found))
    for line in summary.sizes(found):
        screen.print(line, markup=False, highlight=False, soft_wrap=True)
    for note in summary.notes(found):
        screen.print(note, markup=False, highlight=False, soft_wrap=True)
    for trouble in summary.troubles(found):
        click.echo(printable(trouble), err=True)
    screen.print("", summary.verdict(found), sep="\n", markup=False, highlight=False, soft_wrap=True)
    if is_first_look and found.exit_code == NOTHING_NEW:
        screen.print(f"to see a finding: kfuzz fuzz {TRY_NEXT}", markup=False, highlight=False)


def advise(kernels: tuple[Kernel, ...], lane: Lane, screen: Console) -> None:
    """How much tighter the silent claims among a person's own kernels could be."""
    silent = [kernel for kernel in kernels if kernel.rounding.adds is None][:MOST_ADVICE]
    if not silent:
        return
    with closing(lane.make_device()) as opened:
        for kernel in silent:
            if slack := slack_of(kernel, opened):
                screen.print(told(kernel, slack), markup=False, highlight=False, soft_wrap=True)


def tell(service: str, found: Document, to_stderr: bool) -> None:
    """Tell a CI service what was found, where and how it looks for it."""
    if service == "auto" and os.environ.get("GITHUB_ACTIONS") == "true":
        service = "github"
    if service == "github":
        click.echo(as_annotations(found), nl=False, err=to_stderr)
        if place := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(place).open("a", encoding="utf-8") as file:
                file.write(as_summary(found))
    if service == "gitlab":
        report.write(Path("gl-code-quality-report.json"), as_code_quality(found))

"""The text that `kfuzz fuzz` prints at its end.

Knows reports, the slack of claims, and streams; it does not know how anything was found.
"""

from contextlib import closing

import click
from rich.console import Console

from kfuzz.campaign.campaign import Lane
from kfuzz.claims.kernel import Kernel
from kfuzz.common.exit_codes import NOTHING_NEW
from kfuzz.common.phases import Phase, Stage, announce
from kfuzz.common.printable import printable
from kfuzz.measure.roundings.slack import describe_slack, slack_of
from kfuzz.ui.reports import report, summary
from kfuzz.ui.reports.accuracy import accuracy_lines
from kfuzz.ui.reports.phases import show_phases

MOST_ADVICE = 4
TRY_NEXT = "broken/leading_neg_inf"


def print_report(found: report.Report, screen: Console, is_first_look: bool, verbose: bool) -> None:
    """Print the failures, a table with a line for each kernel, what you may want to act on, and the verdict."""
    for text in summary.failures(found, verbose):
        screen.print("", text, sep="\n", markup=False, highlight=False, soft_wrap=True)
    screen.print()
    screen.print(summary.table(found))
    for line in (*accuracy_lines(found.kernels), *summary.remarks(found), *(summary.details(found) if verbose else ())):
        print_line(line, screen)
    for trouble in summary.troubles(found):
        click.echo(printable(trouble), err=True)
    screen.print()
    print_line(summary.verdict(found), screen)
    if is_first_look and found.exit_code == NOTHING_NEW:
        screen.print(f"to see a finding: kfuzz fuzz {TRY_NEXT}", markup=False, highlight=False)


def print_line(text: str, screen: Console) -> None:
    """Print a sentence, on a terminal by whole words."""
    screen.print(text, markup=False, highlight=False, soft_wrap=not screen.is_terminal)


def advise(kernels: tuple[Kernel, ...], lane: Lane, screen: Console) -> None:
    """Print how much tighter the claims of your own kernels could be that leave out `adds`."""
    silent = [kernel for kernel in kernels if kernel.rounding.adds is None][:MOST_ADVICE]
    if not silent:
        return
    with show_phases(screen), closing(lane.make_device()) as opened:
        for kernel in silent:
            announce(Phase(Stage.MEASURING, kernel.name))
            if slack := slack_of(kernel, opened):
                print_line(describe_slack(kernel, slack), screen)

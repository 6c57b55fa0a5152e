"""`kfuzz report`: one or several JSON reports as a page for a browser. The page itself is in views."""

from pathlib import Path

import click

from kfuzz.views import report_file
from kfuzz.views.page import as_page
from kfuzz.views.report import write


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN.json...", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("report.html"),
              show_default=True, help="Where the page is written.")  # fmt: skip
def report(runs: tuple[Path, ...], output: Path) -> None:
    """Write a page that shows what campaigns found: one file, to be read in any browser, without a network.

    RUN.json is what kfuzz fuzz --json wrote; of several, all findings stand on one page.

    \b
    kfuzz fuzz mine.cu --json run.json      a campaign, and its report
    kfuzz report run.json -o report.html    the same as a page
    """
    write(output, as_page([report_file.read(path) for path in runs]))
    click.echo(f"{output}")

"""`kfuzz report`: turns JSON reports into a page for a browser, or into another format."""

from pathlib import Path

import click

from kfuzz.ui.commands.documents import ReportFiles, format_options
from kfuzz.ui.reports import report_file
from kfuzz.ui.reports.page import as_page
from kfuzz.ui.reports.report import write


@click.command(short_help="Turn JSON reports into a page for a browser.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN.json...", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("report.html"),
              show_default=True, help="Write the page to this file.")  # fmt: skip
@format_options("report")
def report(runs: tuple[Path, ...], output: Path, outputs: ReportFiles) -> None:
    """Write a page that shows the findings of one or several reports, and convert reports to other formats.

    RUN.json is a file that kfuzz fuzz --json or kfuzz check --json wrote. The page is one file, which any browser
    shows without a network. All reports that you name go into the same page.

    \b
    kfuzz fuzz mine.cu --json run.json            a campaign, and its report
    kfuzz report run.json -o report.html          the report as a page
    kfuzz report 1.json 2.json --sarif all.sarif  a page, and a SARIF file
    """
    documents = [report_file.read(path) for path in runs]
    write(output, as_page(documents))
    outputs.write(documents)
    click.echo(f"{output}", err=outputs.uses_stdout)

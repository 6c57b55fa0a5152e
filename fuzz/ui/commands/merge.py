"""`kfuzz merge`: joins the reports of a campaign's parts, and collects their cases in one folder."""

import shlex
import sys
from pathlib import Path

import click

from kfuzz.cases import case_file, corpus
from kfuzz.cases.errors import CaseError
from kfuzz.common.exit_codes import COULD_NOT
from kfuzz.common.printable import printable, shown_path
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.commands.documents import ReportFiles, format_options
from kfuzz.ui.commands.fuzz import FOLDER
from kfuzz.ui.reports import report_file
from kfuzz.ui.reports.by_bug import errors_of, verdict
from kfuzz.ui.reports.document import Document, FindingEntry
from kfuzz.ui.reports.formats.json_text import as_json
from kfuzz.ui.reports.merged import merge_reports, missing_parts
from kfuzz.ui.reports.report import write


@click.command(short_help="Join the reports of a campaign's parts.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN.json...", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("merged.json"),
              show_default=True, help="Write the joined report to this file.")  # fmt: skip
@click.option(
    "--corpus",
    "folder",
    type=FOLDER,
    help="Also copy the cases of the findings to this folder. Default: they stay where they are.",
)
@format_options("merge")
@click.pass_context
def merge(ctx: click.Context, runs: tuple[Path, ...], output: Path, folder: Path | None, outputs: ReportFiles) -> None:
    """Join reports that kfuzz fuzz --shard --json wrote. The result is the report that one machine would have written.

    You can also join reports about different kernels. kfuzz looks for each case where its report says, and beside the
    report.

    \b
    kfuzz fuzz . --seed 7 --max-cases 9000 --shard 1/3 --json 1.json  on the first of three machines
    kfuzz merge 1.json 2.json 3.json -o run.json                      one report
    kfuzz merge *.json --html run.html                                the report, and a page

    Exit code: that of the whole campaign, and 2 if a part is missing.
    """
    parts = [report_file.read(path) for path in runs]
    for part, path in zip(parts, runs, strict=True):
        for finding in (finding for kernel in part["kernels"] for finding in kernel["findings"]):
            find_case(finding, path.parent)
    found = merge_reports(parts, ("kfuzz", *sys.argv[1:]))
    for finding in (finding for kernel in found["kernels"] for finding in kernel["findings"]):
        if folder is not None and finding["case"] is not None:
            name_case(finding, corpus.save(folder, case_file.read(Path(finding["case"]))))
    if absent := missing_parts(parts):
        found["exit_code"] = COULD_NOT
        click.echo(f"missing: part{'s' * (len(absent) > 1)} {', '.join(absent)}", err=True)
    write(output, as_json([found]))
    outputs.write([found])
    for line in result_lines(found):
        click.echo(printable(line), err=outputs.uses_stdout)
    click.echo(f"{output}", err=outputs.uses_stdout)
    ctx.exit(found["exit_code"])


def find_case(finding: FindingEntry, beside: Path) -> None:
    """Make a finding name the present place of its case."""
    if finding["case"] is None:
        return
    said = finding["case"]
    place = next((path for path in (beside / said, Path(said)) if path.is_file()), None)
    if place is None:
        raise CaseError(f"{said}: no such file here or below {beside}: copy the cases together with their report")
    name_case(finding, place)


def name_case(finding: FindingEntry, place: Path) -> None:
    """Make a finding name another file of its case."""
    old, new = finding["case"] or "", shown_path(place)
    finding["case"] = new
    finding["commands"] = [
        [label, new if label == "file" else text.replace(shlex.quote(old), shlex.quote(new))]
        for label, text in finding["commands"]
    ]


def result_lines(found: Document) -> list[str]:
    """A line for each new error, and the verdict."""
    lines = [f"BROKEN  {one['bucket']}" for kernel in found["kernels"] for one in errors_of(kernel)]
    return [*lines, f"{verdict(found['kernels'])} ({plural(found['trials'], 'trial')}, seed {found['seed']})"]

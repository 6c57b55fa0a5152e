"""The kernels of a folder as a table: for a terminal, as JSON, and as the Markdown in docs/kernels.md.

Knows kernels and their layout; it does not know how they run.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from kfuzz.campaign.last_run import last_run
from kfuzz.claims.kernel import KERNELS, Kernel, kernel_files, load
from kfuzz.claims.language.axes import Axis
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError
from kfuzz.oracle.numbers.plural import plural

BEGINS = "<!-- kernels -->"
ENDS = "<!-- /kernels -->"
HEADINGS = ("kernel", "op", "sizes", "tune", "broken on purpose", "last run")
FIRST_TO_GO = ("tune", "sizes", "last run", "broken on purpose")
"""The columns that a narrow terminal does without."""


def read_folder(folder: Path = KERNELS) -> tuple[tuple[Kernel, ...], tuple[ClaimError, ...]]:
    """Every kernel below the folder that can be read, and the errors of those that cannot."""
    kernels: list[Kernel] = []
    errors: list[ClaimError] = []
    for path in kernel_files(folder):
        try:
            kernels.append(load(path))
        except ClaimError as error:
            errors.append(error)
    return tuple(kernels), tuple(errors)


def as_json(kernels: Sequence[Kernel]) -> list[dict[str, object]]:
    """The list as `kfuzz list --json` prints it."""
    return [
        {
            "name": kernel.name,
            "op": kernel.op,
            "path": shown_path(kernel.path),
            "broken": {"kind": kernel.broken.kind, "why": kernel.broken.why} if kernel.broken else None,
            "axes": {
                name: {"min": axis.lo, "max": axis.hi, "multiple": axis.multiple, "listed": list(axis.listed)}
                for name, axis in kernel.axes.items()
            },
            "tune": {name: list(values) for name, values in kernel.tune.items()},
            "where": [condition.text for condition in kernel.where.conditions],
            "last_run": asdict(ran) if (ran := last_run(kernel)) else None,
        }
        for kernel in kernels
    ]


def as_table(kernels: Sequence[Kernel], width: int) -> Table:
    """The list as a table for the terminal; where a row does not fit into one line, with fewer columns."""
    rows = [HEADINGS, *map(row_of, kernels)]
    widths = {heading: max(len(row[place]) for row in rows) + 1 for place, heading in enumerate(HEADINGS)}
    shown = dict(widths)
    for heading in FIRST_TO_GO:
        if sum(shown.values()) > width:
            del shown[heading]
    table = Table(*shown, box=None, pad_edge=False)
    for row in rows[1:]:
        table.add_row(*(text for heading, text in zip(HEADINGS, row, strict=True) if heading in shown))
    return table


def row_of(kernel: Kernel) -> tuple[str, ...]:
    """What the columns say of a kernel."""
    tune = " ".join(f"{name}={values_text(values)}" for name, values in kernel.tune.items())
    broken = kernel.broken.kind if kernel.broken else ""
    return kernel.name, kernel.op, axes_text(kernel.axes), tune, broken, run_text(kernel)


def run_text(kernel: Kernel) -> str:
    """`912 trials, cpu, 2026-11-20`, and whether it had findings or the file was edited since."""
    run = last_run(kernel)
    if run is None:
        return "never"
    parts = [plural(run.trials, "trial"), run.device, run.ended[:10]]
    parts += [plural(run.errors, "finding")] if run.errors else []
    parts += [] if run.is_of(kernel) else ["edited since"]
    return ", ".join(parts)


def axes_text(axes: dict[str, Axis]) -> str:
    """`rows=1..2^31-1 cols=1..1024`."""
    return " ".join(f"{name}={axis_text(axis)}" for name, axis in axes.items())


def axis_text(axis: Axis) -> str:
    """`1..2^31-1`, `4..4096 by 4`, or `32,64,128`."""
    if axis.listed:
        return values_text(axis.listed)
    by = f" by {axis.multiple}" if axis.multiple > 1 else ""
    return f"{size_text(axis.lo)}..{size_text(axis.hi)}{by}"


def size_text(size: int) -> str:
    """A size in digits, or as a power of two if it is a large one."""
    for number, tail in ((size, ""), (size + 1, "-1")):
        if number >= 2**16 and number & (number - 1) == 0:
            return f"2^{number.bit_length() - 1}{tail}"
    return str(size)


def values_text(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def first_sentence(prose: str) -> str:
    """The first sentence of a kernel file's prose."""
    paragraph = " ".join(prose.split("\n\n", maxsplit=1)[0].split())
    return paragraph.split(". ")[0].rstrip(".") + "." if paragraph else ""


def as_markdown(kernels: Sequence[Kernel]) -> str:
    """Two tables: the kernels that are right, and those that are wrong on purpose."""
    lines = ["| kernel | op | sizes | how |", "|---|---|---|---|"]
    for kernel in kernels:
        if kernel.broken is None:
            how = escape_markdown(first_sentence(kernel.prose))
            lines.append(f"| `{kernel.name}` | {kernel.op} | {axes_text(kernel.axes)} | {how} |")
    lines += ["", "| wrong on purpose | op | must be found | why |", "|---|---|---|---|"]
    for kernel in kernels:
        if kernel.broken is not None:
            why = escape_markdown(kernel.broken.why)
            lines.append(f"| `{kernel.name}` | {kernel.op} | {kernel.broken.kind} | {why} |")
    return "\n".join(lines)


def escape_markdown(text: str) -> str:
    """The text with Markdown's special characters escaped, for a table."""
    for char in "\\|*_<":
        text = text.replace(char, f"\\{char}")
    return text


def put_table(text: str, table: str) -> str:
    """The text with the table between its markers. Raises ValueError if it has none."""
    before, opening, rest = text.partition(BEGINS)
    _, closing, after = rest.partition(ENDS)
    if not opening or not closing:
        raise ValueError(f"no place for the table: write a line '{BEGINS}' and below it a line '{ENDS}'")
    return f"{before}{BEGINS}\n{table}\n{ENDS}{after}"

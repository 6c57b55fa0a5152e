"""The end of a campaign on the terminal: the findings, then a line for each kernel, then one for all.

Knows the report and rich's tables; it does not know how anything was found.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table

from kfuzz.campaign.bugs import Bug
from kfuzz.campaign.ledger import octaves
from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.claims.kernel import Kernel
from kfuzz.common.printable import shown_path
from kfuzz.oracle.numbers.plural import plural
from kfuzz.ui.reports.accuracy import judged_share
from kfuzz.ui.reports.by_bug import FAIL_WORDS
from kfuzz.ui.reports.claims import notes_on
from kfuzz.ui.reports.failure import discovery_text
from kfuzz.ui.reports.inferred import depends_on_answers, inferred_claim, inferred_texts
from kfuzz.ui.reports.listing import size_text
from kfuzz.ui.reports.properties import property_lines
from kfuzz.ui.reports.report import Report
from kfuzz.ui.reports.silenced import silence_texts, silenced_findings

MOST_BLOCKS, MOST_ALSO, MOST_REMARKS = 3, 6, 4
STOPS = {"max-cases": "", "max-time": "", "first-finding": "; stopped at the first finding"}


def failures(report: Report, verbose: bool = False) -> Iterator[str]:
    """A block for each new bug, errors before warnings; for a kernel with many bugs, only the first few."""
    for kernel in report.kernels:
        yield from blocks([bug for bug in kernel.bugs if bug.is_error and not bug.is_known], verbose)
        yield from blocks([bug for bug in kernel.bugs if not bug.is_error and not bug.is_known], verbose)


def blocks(bugs: Sequence[Bug], verbose: bool = False) -> Iterator[str]:
    """The finding that describes each bug best in full, and its other signs in a line each."""
    for place, bug in enumerate(bugs[:MOST_BLOCKS]):
        lines = [f"  also      {other_sign(one)}" for one in bug.also[:MOST_ALSO]]
        if more := len(bug.also) - MOST_ALSO:
            lines += [f"  also      {more} more, see --json"] if more > 0 else []
        left = bugs[MOST_BLOCKS:] if place == MOST_BLOCKS - 1 else ()
        lines += [f"  beside    {other_sign(other.headline)}" for other in left]
        yield "\n".join([discovery_text(bug.headline, verbose), *lines])


def other_sign(one: Discovery) -> str:
    return one.defect.sign + (f"  {shown_path(one.path)}" if one.path else "")


def troubles(report: Report) -> Iterator[str]:
    """Why kernels were not tried to the end; the whole text for one kernel, one line each for several."""
    for kernel in report.kernels:
        if trouble := kernel.progress.error or kernel.progress.retired or kernel.unjudged:
            first, *more = trouble.splitlines()
            short = f"{first}, and more, see --json" if more else first
            yield f"{kernel.kernel.name}: {short if len(report.kernels) > 1 else trouble}"


def remarks(report: Report) -> Iterator[str]:
    """What you may want to act on: a line for the only kernel's sizes, then a few lines for each kernel, or one."""
    most = MOST_REMARKS if len(report.kernels) == 1 else 1
    judged = [each for each in report.kernels if each.progress.rows]
    if lines := list(filter(None, map(largest_line, judged))):
        several = f"larger sizes that {len(lines)} of {len(judged)} kernels claim were not tried"
        yield f"{lines[0] if len(report.kernels) == 1 else several} (--verbose says more)"
    for kernel in report.kernels:
        every = [f"{kernel.kernel.name}: {text}" for text in remarks_on(kernel)]
        yield from every[:most]
        if left := len(every) - most if len(every) > most else 0:
            yield f"{kernel.kernel.name}: {plural(left, 'more remark')}, see --verbose"


def remarks_on(kernel: KernelResult) -> Iterator[str]:
    """What contradicts the claim, how it rounds, what was guessed if it matters, what is silenced and what refused."""
    yield from notes_on(kernel)
    if text := guessed_text(kernel):
        yield text
    yield from silence_texts(silenced_findings(kernel))
    if refusals := sorted(map(unjudged_text, kernel.progress.refusals)):
        more = f", and {len(refusals) - 1} more, see --json" if len(refusals) > 1 else ""
        yield f"some arguments are {refusals[0]}{more}"


def guessed_text(kernel: KernelResult) -> str:
    """What of a broken kernel's claim kfuzz guessed, and would change the verdict if you mean something else."""
    kinds = {bug.headline.defect.kind for bug in kernel.news}
    if not kinds or not inferred_claim(kernel.kernel, kinds):
        return ""
    if depends_on_answers(kinds):
        return "the answers are judged by a claim that kfuzz guessed in part: --verbose has it; write down what differs"
    if not kernel.kernel.axes:
        return ""
    sizes = ", ".join(f"{name} {size_text(axis.lo)}..{size_text(axis.hi)}" for name, axis in kernel.kernel.axes.items())
    words = kernel.news[0].headline.defect.scene.words
    return f"kfuzz guessed the sizes {sizes}. If your callers never pass {words}, narrow `axes`"


def details(report: Report) -> Iterator[str]:
    """All that was inferred, and the sizes, properties and costs that were tried: what --verbose adds."""
    yield from untried_sizes(report)
    yield from property_lines(report.kernels)
    for kernel in report.kernels:
        name, progress = kernel.kernel.name, kernel.progress
        yield from inferred_texts(
            name, inferred_claim(kernel.kernel, {bug.headline.defect.kind for bug in kernel.news})
        )
        if progress.size_costs:
            yield f"{name}: {size_costs_text(progress.size_costs, progress.trials)}"


def size_costs_text(costs: Mapping[str, float], trials: int) -> str:
    """`a new size costs 3.1 s and a known one 0.02 s: ...`: why most trials of a callable have few sizes."""
    known = int(costs["trials"])
    return (
        f"a new size costs {costs['new']:.2g} s and a known one {costs['known']:.2g} s: "
        f"{plural(trials - known, 'trial')} tried new sizes, and {known} drew new values for these; "
        "more --max-time tries more sizes"
    )


def table(report: Report) -> Table:
    """One line for each kernel."""
    lines = Table("kernel", box=None, pad_edge=False)
    for heading in ("trials", "rows"):
        lines.add_column(heading, justify="right")
    lines.add_column("findings")
    for kernel in report.kernels:
        progress = kernel.progress
        lines.add_row(kernel.kernel.name, f"{progress.trials}", f"{progress.rows}", counts_text(kernel))
    return lines


def counts_text(kernel: KernelResult) -> str:
    """`2 new, 1 found before, 1 known, 1 warning`; a dash if there is nothing."""
    new = len(kernel.news)
    known = sum(bug.is_known for bug in kernel.bugs)
    warnings = sum(not bug.is_error and not bug.is_known for bug in kernel.bugs)
    before = sum(bug.is_kept_before for bug in kernel.news)
    parts = [f"{new - before} new" if new > before else "", f"{before} found before" if before else ""]
    parts += [f"{known} known" if known else ""]
    parts += [plural(warnings, "warning") if warnings else ""]
    parts += ["cannot run" if kernel.progress.error else "not judged" if kernel.unjudged else ""]
    return ", ".join(filter(None, parts)) or "-"


def verdict(report: Report) -> str:
    """The verdict on all kernels, in one line."""
    result = report.result
    seconds = round(result.seconds, 3)
    rate = f"{result.trials / seconds:.0f} trials/s, " if seconds else ""
    broken = [kernel for kernel in report.kernels if kernel.news]
    news = len(result.news)
    warnings = len(report.failing) - news
    if news:
        words = f"broken: {len(broken)} of {plural(len(report.kernels), 'kernel')}, in {plural(news, 'way')}"
    elif any(kernel.progress.elements for kernel in report.kernels):
        is_all_new = not any(kernel.discoveries for kernel in report.kernels)
        words = "nothing found" if is_all_new else "nothing new is broken"
        fresh = sum(len(kernel.failing("warning")) for kernel in report.kernels)
        words += f", {plural(fresh, 'warning')}{FAIL_WORDS if warnings else ''}" if fresh else ""
    else:
        words = "nothing was tested"
    trials, rows = plural(result.trials, "trial"), plural(result.rows, "row")
    rows += judged_share(result.rows, result.unjudged_rows)
    amount = f"{trials}, {rows} in {seconds:.1f} s ({rate}device {report.device}, "
    stopped = STOPS.get(result.stop_reason, f"; {result.stop_reason}")
    return f"{words}: {amount}seed {result.seed}){stopped}{untried_text(report)}{unjudged_text_of_report(report)}"


def unjudged_text_of_report(report: Report) -> str:
    """How many kernels could not be judged, for a reason other than time."""
    is_idle = not any(kernel.is_judged for kernel in report.kernels)
    left = sum(kernel.could_not or (is_idle and bool(kernel.unjudged)) for kernel in report.kernels)
    left += len(report.faults)
    return f"; {plural(left, 'kernel')} could not be judged, see above" if left else ""


def untried_sizes(report: Report) -> Iterator[str]:
    """Which claimed sizes were not tried, a line for each kernel."""
    yield from filter(None, (sizes_line(each) for each in report.kernels if each.progress.rows))


def largest_line(result: KernelResult) -> str:
    """`not tried: rows beyond 160 of 65535`; empty if the largest sizes of all axes were tried."""
    own = f"{home_text(result.kernel)}; " if not is_home_tried(result) else ""
    beyond = sizes_beyond(result)
    return f"not tried: {own}{', '.join(beyond)}" if beyond else ""


def sizes_beyond(result: KernelResult) -> list[str]:
    """`rows beyond 160 of 65535`, for each axis."""
    largest = result.progress.largest
    return [
        f"{name} beyond {tried} of {size_text(axis.hi)}"
        for name, axis in result.kernel.axes.items()
        if (tried := largest.get(name, 0)) < axis.hi
    ]


def sizes_line(result: KernelResult) -> str:
    """The same with the kernel's name and the sizes near powers of two."""
    beyond = sizes_beyond(result)
    why = "; ".join(sorted(one.value for one in result.progress.untried))
    more = f"; tried near powers of two: {rungs}" if (rungs := rungs_text(result.progress.rungs)) else ""
    more += f"; some sizes near powers of two were not: {why}" if why else ""
    own = f"{home_text(result.kernel)}; " if beyond and not is_home_tried(result) else ""
    return f"not tried: {result.kernel.name}: {own}{', '.join(beyond)}{more}" if beyond else ""


def is_home_tried(result: KernelResult) -> bool:
    """Whether an answer was judged at the shape that a function was written for, as far as sizes are counted."""
    home, progress = result.kernel.home, result.progress
    together = octaves({name: home.get(name, size) for name, size in progress.largest.items()})
    reached = all(progress.largest.get(name, 0) >= size for name, size in home.items())
    return not home or (reached and together in progress.tried)


def home_text(kernel: Kernel) -> str:
    """The shape that a function was written for."""
    return f"{'x'.join(map(str, kernel.home.values()))}, the shape that it was written for"


def rungs_text(rungs: Iterable[str]) -> str:
    """`rows 2^16 2^20, elements 2^31`: the powers of two near which sizes were tried, of each axis."""
    powers: dict[str, set[int]] = {}
    for rung in rungs:
        of, _, power = rung.partition(" ")
        powers.setdefault(of, set()).add(int(power.rpartition("^")[2]))
    return ", ".join(f"{of} {' '.join(f'2^{one}' for one in sorted(every))}" for of, every in sorted(powers.items()))


def untried_text(report: Report) -> str:
    """How many kernels were not tried, and what would change that; empty if all were."""
    every = [kernel.progress for kernel in report.kernels]
    left = sum(not one.trials and not one.retired and not one.error for one in every)
    stop = report.result.stop_reason
    if not left or stop not in ("max-cases", "max-time"):
        return ""
    return f"; {left} of {plural(len(report.kernels), 'kernel')} not tried at all: give more --{stop}"

"""The end of a campaign on the terminal is short: a screen for one kernel, a line a kernel for many."""

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from our_kernels import our_kernel
from rich.console import Console

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult
from kfuzz.cases import case_file
from kfuzz.cases.case import Record, case_of
from kfuzz.claims.kernel import load
from kfuzz.devices import Refusal, Untried
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.commands.closing_words import print_report
from kfuzz.ui.reports import failure, summary
from kfuzz.ui.reports.report import Report

RIGHT, LEADING = our_kernel("softmax/online_thread"), our_kernel("broken/leading_neg_inf")
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
CLAIMED = """# /// kernel
# op = "row_sum"
# ///
def forward(x):
    return x.sum(-1)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Report:
    options = Options(seed=3, max_cases=40, corpus=tmp_path_factory.mktemp("corpus"))
    return Report(run_campaign([LEADING, RIGHT], CpuDevice, options), ("kfuzz", "fuzz"), "cpu", NOON)


def wordy(one: KernelResult) -> KernelResult:
    """A kernel of which there is much to say."""
    refusals = {Refusal(f"no {number}", number) for number in range(5)}
    looks = {"strides": [3, 1], "batch_invariant": [4, 0], "deterministic": [9, 2]}
    costs = {"new": 3.0, "known": 0.1, "trials": 2.0}
    untried = {Untried.CARD_IN_USE}
    progress = replace(one.progress, refusals=refusals, looks=looks, size_costs=costs, untried=untried)
    return replace(one, progress=progress)


def report_of(one: Report, kernels: Sequence[KernelResult]) -> Report:
    return replace(one, result=replace(one.result, kernels=tuple(kernels)))


def printed(one: Report, verbose: bool = False, width: int = 100) -> list[str]:
    """The lines behind the findings and the headings of the table."""
    stream = io.StringIO()
    print_report(one, Console(file=stream, width=width, force_terminal=True, color_system=None), False, verbose)
    lines = stream.getvalue().splitlines()
    return lines[next(row for row, line in enumerate(lines) if line.startswith("kernel ")) + 1 :]


def inferred(folder: Path, one: KernelResult, number: int) -> KernelResult:
    path = folder / f"mine{number}.py"
    path.write_text(CLAIMED, encoding="utf-8")
    return wordy(replace(one, kernel=load(path)))


def test_one_kernel_has_at_most_ten_lines(found: Report) -> None:
    lines = printed(report_of(found, [wordy(found.kernels[1])]))
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 100


def test_many_kernels_have_at_most_two_lines_each(found: Report, tmp_path: Path) -> None:
    lines = printed(report_of(found, [inferred(tmp_path, found.kernels[1], number) for number in range(12)]), width=120)
    assert len(lines) <= 2 * 12 + 4
    assert not [line for line in lines if "inferred" in line or "not tested" in line]


def test_verbose_says_all(found: Report, tmp_path: Path) -> None:
    one = report_of(found, [inferred(tmp_path, found.kernels[1], 0)])
    text = "\n".join(printed(one, verbose=True, width=1000))
    for line in summary.details(one):
        assert line in text
    assert "inferred, not written" in text
    assert "a new size costs 3 s" in text
    assert "strided tensors: did not hold in 1 of 4 trials" in text


def test_of_a_broken_kernel_what_was_guessed_is_named(found: Report, tmp_path: Path) -> None:
    broken = replace(found.kernels[0], kernel=inferred(tmp_path, found.kernels[1], 1).kernel)
    (line,) = [each for each in summary.remarks(report_of(found, [broken])) if "guessed" in each]
    assert line.startswith("mine1: the answers are judged by a claim that kfuzz guessed in part")
    of_device = {bug.headline.defect.kind for bug in broken.news} - {"numeric", "special"}
    assert not summary.depends_on_answers(of_device)


@pytest.mark.parametrize(("columns", "is_short"), [(1, True), (60, False)])
def test_a_long_case_is_spelled_out_on_request(found: Report, tmp_path: Path, columns: int, is_short: bool) -> None:
    path = tmp_path / "kept.json"
    case_file.write(path, Record(case_of("softmax", {"x": np.arange(columns, dtype=np.float32)[None]})))
    one = replace(found.kernels[0].discoveries[0], path=path)
    ((_, line),) = [each for each in failure.commands(one.defect, path, False) if each[0] == failure.PASTE]
    assert line in failure.discovery_text(one, verbose=True)
    assert (line in failure.discovery_text(one)) == (len(line) <= failure.LONGEST_PASTE) == is_short


def test_on_a_narrow_terminal_no_line_is_broken_inside_a_word(found: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    text = failure.discovery_text(found.kernels[0].discoveries[0])
    copied = tuple(f"  {label}" for label in failure.COMMANDS)
    assert [line for line in text.splitlines()[1:] if len(line) > 60 and not line.startswith(copied)] == []
    words = " ".join(printed(found, width=60)).split()
    assert set(summary.verdict(found).split()) <= set(words)

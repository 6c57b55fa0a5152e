"""The lines that say how much of the answers was judged, and how far these were from the exact ones."""

from dataclasses import replace

import numpy as np
import pytest

from kfuzz.campaign.result import KernelResult
from kfuzz.campaign.state import Progress
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.ui.reports.accuracy import accuracy_lines, describe_error, describe_unjudged, judged_share

MINE = load(KERNELS / "softmax" / "online_warp.cu")


def result(**figures: object) -> KernelResult:
    progress = Progress(trials=9, rows=1000, elements=5000, worst_ratio=0.314, worst_ulps=2.14)
    return KernelResult(MINE, replace(progress, **figures))  # type: ignore[arg-type]


def test_a_kernel_has_a_line_for_the_rows_left_out_and_one_for_its_accuracy() -> None:
    lines = list(accuracy_lines([result(unjudged_rows=3, reasons={"rows with NaN"})]))
    assert lines == [
        "softmax/online_warp: 3 of 1000 rows not judged, because: rows with NaN",
        "softmax/online_warp: accuracy: no error is more than 2.2 ulp, or 32 % of what the claim allows",
    ]


def test_rows_that_were_all_judged_need_no_line() -> None:
    assert describe_unjudged(80, 0, ["rows with NaN"]) == ""
    assert list(accuracy_lines([result(rows=0)])) == []


def test_many_kernels_share_two_lines() -> None:
    many = [result(), result(unjudged_rows=1), result(unjudged_rows=2, worst_ratio=0.5), result()]
    assert list(accuracy_lines(many)) == [
        "2 of 4 kernels have rows that were not judged, 3 of 2000; --json says why",
        "accuracy: no error is more than 50 % of what the claim allows (softmax/online_warp)",
    ]


def test_a_few_reasons_are_named_and_the_others_counted() -> None:
    assert describe_unjudged(9, 1, ["a", "b", "c"]).endswith("because: a; b; and 1 more, see --json")


@pytest.mark.parametrize(
    ("rows", "unjudged", "said"),
    [
        (0, 0, ""),
        (10, 0, " (all judged)"),
        (100_000, 1, " (99.9 % judged)"),
        (3, 1, " (66.6 % judged)"),
        (3, 3, " (0 % judged)"),
    ],
)
def test_the_share_that_was_judged_is_never_rounded_up(rows: int, unjudged: int, said: str) -> None:
    assert judged_share(rows, unjudged) == said


def test_an_error_without_a_unit_is_a_share_of_the_bound() -> None:
    assert describe_error(1, None, 0.25) == "accuracy: no error is more than 25 % of what the claim allows"
    assert describe_error(0, 2.0, 0.25) == ""
    assert (
        describe_error(1, float(np.float32(0.5)), 1.0)
        == "accuracy: no error is more than 0.5 ulp, or 100 % of what the claim allows"
    )

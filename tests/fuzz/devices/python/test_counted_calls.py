"""Counts the roundings of a Triton function by its launches; what lies between them is one line."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import DATA

from kfuzz.claims.kernel import load
from kfuzz.devices.python.counting import GIVES_OTHERS, LIBRARY_ADDS, READS_OTHERS, TAKES_OTHERS, CallCounter
from kfuzz.measure.roundings.measure import Sample, sampled
from kfuzz.measure.roundings.propose import rounding_of

pytest.importorskip("triton")
pytestmark = pytest.mark.slow(5)
TEXT = (DATA / "callables" / "triton" / "row_sum.py").read_text(encoding="utf-8")
LAUNCH = "    sum_kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=64)\n"


@pytest.fixture(scope="module")
def counter() -> Iterator[CallCounter]:
    one = CallCounter()
    yield one
    one.close()


def counted(counter: CallCounter, folder: Path, cols: int, *edits: tuple[str, str]) -> Sample | str:
    text = TEXT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "row_sum.py").write_text(text)
    return sampled(load(folder / "row_sum.py"), {"rows": 3, "cols": cols}, {}, counter)


def adds(sample: Sample | str) -> tuple[int, ...]:
    assert isinstance(sample, Sample), sample
    return tuple(sample.adds.values())


def test_the_launches_of_a_triton_function_are_counted(counter: CallCounter, tmp_path: Path) -> None:
    """A program adds 64 columns at a time and then one to another; to add 0 is exact."""
    assert [adds(counted(counter, tmp_path, cols)) for cols in (1, 64, 65, 640)] == [
        (0, 0, 0),
        (6, 0, 0),
        (7, 0, 0),
        (15, 0, 0),
    ]
    twice = ("    tl.store(y + row, tl.sum(total, 0))", "    tl.store(y + row, tl.sum(total + total, 0))")
    assert adds(counted(counter, tmp_path, 64, twice)) == (7, 0, 0)


@pytest.mark.slow(20)
def test_what_is_proposed_for_a_softmax_is_what_its_approximate_instructions_are() -> None:
    """Triton's exp is ex2.approx of a product, and its division div.full: neither is CUDA's expf, or IEEE's."""
    found = rounding_of(load(DATA / "callables" / "triton" / "softmax.py"))
    said = found.statements
    assert (said["exp"], said["divide"], said["rescales"]) == ('"__expf"', '"fast"', '"0"'), found.remark
    assert "ceil_log2(cols)" in said["adds"]


OTHERS = {
    "the library adds": ((LAUNCH, "    return x.sum(1)\n"), LIBRARY_ADDS),
    "it adds first": ((LAUNCH, LAUNCH.replace("(y, x,", "(y, x + 1 - 1,")), READS_OTHERS),
    "it adds last": (("    return y\n", "    return y + 1\n"), GIVES_OTHERS),
    "a launch reads another": ((LAUNCH, LAUNCH + LAUNCH.replace("(y, x, x.shape[1],", "(y, y, 1,")), READS_OTHERS),
    "a float of the inputs": ((LAUNCH, LAUNCH.replace("x.shape[1],", "x.shape[1], x.mean().item(),")), TAKES_OTHERS),
}


@pytest.mark.parametrize("others", OTHERS)
def test_what_launches_do_not_do_themselves_is_not_counted(counter: CallCounter, tmp_path: Path, others: str) -> None:
    edit, why = OTHERS[others]
    edits = [edit]
    if why == TAKES_OTHERS:
        edits += [("x, cols, BLOCK", "x, cols, by, BLOCK"), ("tl.sum(total, 0))", "tl.sum(total, 0) + by - by)")]
    assert counted(counter, tmp_path, 100, *edits) == why


def test_a_float_that_is_the_same_for_all_inputs_is_a_constant(counter: CallCounter, tmp_path: Path) -> None:
    edits = (
        (LAUNCH, LAUNCH.replace("x.shape[1],", "x.shape[1], 0.5,")),
        ("x, cols, BLOCK", "x, cols, by, BLOCK"),
        ("tl.sum(total, 0))", "tl.sum(total, 0) * by)"),
    )
    assert adds(counted(counter, tmp_path, 64, *edits)) == (6, 0, 0)

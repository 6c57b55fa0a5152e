"""The benchmark of checked trials counts what it runs, and names the kernel that it accuses."""

from benchmarks.detection.checked import part_of
from kfuzz.claims.kernel import KERNELS, load


def test_a_kernel_without_its_barrier_is_accused_and_one_that_has_it_is_not() -> None:
    wrong = part_of(load(KERNELS / "broken/missing_barrier.cu"), 14, 0, 8)
    assert any("race" in one for one in wrong.accusations)
    right = part_of(load(KERNELS / "softmax/safe_block.cu"), 14, 0, 8)
    assert (wrong.trials, right.trials) == (8, 8)
    assert right.rows > 0
    assert right.accusations == ()

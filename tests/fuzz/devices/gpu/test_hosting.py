"""What nvcc makes of host functions and of kfuzz's own part of their libraries. It needs no GPU."""

import random
from pathlib import Path

import pytest
from paths import DATA
from with_nvcc import needs_nvcc

from kfuzz.cases.plans.plan import plan
from kfuzz.claims.kernel import load
from kfuzz.devices.gpu import hosting

ARCHITECTURE = "sm_90"
CLAIMED = [path for path in sorted(DATA.glob("extensions/**/*.cu")) if "/// kernel" in path.read_text()]


pytestmark = [pytest.mark.slow, needs_nvcc]


def test_the_parts_that_only_a_gpu_uses_compile(tmp_path: Path) -> None:
    """The tests of the cpu device compile all others."""
    parts = [part for part in hosting.list_parts(with_torch=True) if part.parent == hosting.HERE]
    assert {part.name for part in parts} == {"memory.cu", "endings.cpp", "reach.cu"}
    for part in parts:
        assert hosting.build_part(part, ARCHITECTURE, tmp_path, "test").stat().st_size


@pytest.mark.soak
@pytest.mark.parametrize("path", CLAIMED, ids=lambda path: path.stem)
def test_an_extension_becomes_a_library(path: Path) -> None:
    kernel = load(path)
    attempt = plan(kernel, random.Random(0).randint, budget=1 << 12)  # noqa: S311  sizes, nothing secret
    job = kernel.bind(attempt.case.arrays, attempt.tune).job
    assert hosting.compile_library(job, ARCHITECTURE).stat().st_size

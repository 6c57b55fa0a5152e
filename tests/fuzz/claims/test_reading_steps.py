"""A claim is parsed, resolved and made a kernel: only the second step starts torch, keeps something, or judges."""

import gc
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from kfuzz.claims.kernel import Kernel, check_corners, kernel_files, load, read
from kfuzz.claims.language import front_matter, kernel_file
from kfuzz.claims.language.keys import parse_claim
from kfuzz.claims.references.references import resolve
from kfuzz.oracle import judging

JUDGES = {f"{judging.__name__}.{one.name}" for one in pkgutil.iter_modules(judging.__path__)} - {
    "kfuzz.oracle.judging.find_op"
}
"""The modules that judge; the other one finds an op by its name."""
OF_RESOLVING = {*JUDGES, "kfuzz.common.phases", "kfuzz.devices.cache", "kfuzz.claims.passed", "subprocess"}
REFERENCE = """# /// kernel
# op = "reference"
# arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
# ///
import torch


def reference(x):
    return torch.relu(x)


def forward(x):
    return torch.clamp(x, min=0)
"""


@contextmanager
def entering() -> Iterator[set[str]]:
    """The modules of which a function is entered. No garbage is collected meanwhile: what an earlier test left behind
    would be ended here, and `subprocess` would seem to be entered."""
    entered, before = set[str](), sys.getprofile()

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        if event == "call":
            entered.add(str(frame.f_globals.get("__name__")))

    gc.disable()
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(before)
        gc.enable()


@pytest.mark.slow(10)
def test_a_kernel_of_a_resolved_claim_is_made_without_judge_phases_and_cache() -> None:
    fronts = list(map(kernel_file.read, kernel_files()))
    with entering() as parsing:
        claims = list(map(parse_claim, fronts))
    resolved = list(map(resolve, fronts, claims))
    with entering() as making:
        kernels = list(map(Kernel.of, fronts, resolved))
    assert len(kernels) > 300
    assert "kfuzz.claims.language.arrays" in making
    assert parsing & OF_RESOLVING == set()
    assert making & OF_RESOLVING == set()


def test_a_claim_that_is_checked_for_the_first_time_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `load` does beside the three steps: the check would see `Kernel.of` do it."""
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path))
    check_corners.cache_clear()  # another test of this process may have checked the same claim
    file = next(one for one in kernel_files() if one.suffix == ".cu")
    path = tmp_path / file.name
    path.write_text(front_matter.text_of(file).replace('rows = "1..', 'rows = "3..', 1))
    with entering() as entered:
        read(kernel_file.read(path))
    assert entered & OF_RESOLVING == {"kfuzz.devices.cache", "kfuzz.claims.passed"}


@pytest.mark.slow(10)
def test_a_reference_is_described_and_kept_while_it_is_resolved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "theirs.py"
    path.write_text(REFERENCE)
    with entering() as loading:
        kernel = load(path)
    assert loading >= {"kfuzz.common.phases", "kfuzz.devices.cache"}
    front = kernel_file.read(path)
    claim = resolve(front, parse_claim(front))
    with entering() as making:
        again = Kernel.of(front, claim)
    assert making & OF_RESOLVING == set()
    assert (again.op, again.reference) == (kernel.op, kernel.reference)
    assert kernel.reference
    assert kernel.reference.name == "reference"

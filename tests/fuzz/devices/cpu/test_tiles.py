"""What a compiler of tiles may write, by a module written by hand: one element in two warps."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paths import DATA
from planted_jobs import job_of

from kfuzz.devices import Finding, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.cpu.findings import Sight
from kfuzz.devices.cpu.tiles import judge_program

ELEMENTS = 32


def run(device: CpuDevice, edits: dict[str, str], is_tiled: bool, name: str = "copies") -> Outcome:
    text = (DATA / "ptx" / f"{name}.ptx").read_text(encoding="utf-8")
    for old, new in edits.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    ones = np.ones(ELEMENTS, np.float32)
    if name == "copies":
        job = job_of(text, ("copies",), "copies", {"y": f"f32[{ELEMENTS}]", "x": ones, "z": ones + 2}, block=64)
        job = replace(job, buffers=tuple(replace(one, is_output=one.name != "x") for one in job.buffers))
    else:
        job = job_of(text, (name,), name, {"y": "f32[1]", "x": ones, "n": ELEMENTS}, block=128)
    job = replace(job, path=Path("planted.ptx"), through="ptx", is_tiled=is_tiled)
    return device.run(job, Probe(check=True, timeout=30.0))


def races(outcome: Outcome) -> set[tuple[str, str, int | None]]:
    """Severity, file and line of each race."""
    return {(one.severity, one.file, one.line) for one in outcome.findings if one.kind == "race"}


@pytest.mark.slow
def test_copies_of_one_element_that_store_one_value_are_no_race(device: CpuDevice) -> None:
    outcome = run(device, {}, is_tiled=True)
    assert outcome.findings == ()
    np.testing.assert_array_equal(outcome.runs[0].outputs["y"], np.full(ELEMENTS, 2, np.float32))
    as_cuda = races(run(device, {}, is_tiled=False))
    assert ("warning", "tile.py", 8) in as_cuda
    assert as_cuda & {("error", "tile.py", 6), ("error", "tile.py", 9)}


EDITS = {
    "copies that store several values": (
        {"st.global.f32 [%rd5], %f3;": "st.global.f32 [%rd5], %f4;"},
        {("warning", "tile.py", 8)},
        "which of them stays is not defined",
    ),
    "a read that is used, of what another copy overwrites": (
        {"add.f32 %f3, %f1, %f1;": "add.f32 %f3, %f1, %f2;"},
        {("error", "tile.py", 6), ("error", "tile.py", 9)},
        "put tl.debug_barrier() between the two lines",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS)
def test_what_changes_an_answer_is_reported(edit: str, device: CpuDevice) -> None:
    edits, wanted, words = EDITS[edit]
    outcome = run(device, edits, is_tiled=True)
    found = races(outcome)
    assert found
    assert found <= wanted | {("warning", "tile.py", 8), ("warning", "tile.py", 9)}
    assert found & wanted
    said = [one.message for one in outcome.findings if one.kind == "race"]
    assert any(words in one for one in said)
    assert all(one.startswith("program 0 ") and "thread (" not in one for one in said)


@pytest.mark.slow
def test_a_barrier_that_is_missing_in_shared_memory_is_the_compilers(device: CpuDevice) -> None:
    outcome = run(device, {"bar.sync 0;": ""}, is_tiled=True, name="row_sum")
    assert {"error"} == {severity for severity, *_ in races(outcome)}
    assert all("the compiler has left out a barrier" in one.message for one in outcome.findings if one.kind == "race")
    assert run(device, {}, is_tiled=True, name="row_sum").findings == ()


THE_COMPILERS = {
    "missing-proxy-fence": ("a wgmma reads what a thread wrote", "the compiler has left it out"),
    "product-in-flight": ("a copy overwrites what a wgmma reads", "the compiler waits too late in PTX"),
}


@pytest.mark.parametrize("kind", THE_COMPILERS)
def test_what_a_source_cannot_write_is_the_compilers(kind: str) -> None:
    """Triton 3.6 writes no fence between cp.async and wgmma in a pipelined product. Where a sum and a product share a
    load, 3.4 to 3.9 wait too late, and for 3.8 and 3.9 ptxas waits earlier.
    """
    message, words = THE_COMPILERS[kind]
    sight = Sight(Finding(kind, message, line=5), None, precise=True)
    (of_triton,), (of_gluon,) = (judge_program([sight], is_fenced) for is_fenced in (True, False))
    assert of_triton.finding.severity == "warning"
    assert words in of_triton.finding.message
    assert of_gluon == sight

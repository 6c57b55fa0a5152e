"""Thread block clusters on the cpu device: the findings in wrong ones, beside the pairs of test_pairs.py."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planted_jobs import Value, expected, planted, reported, source

from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, Finding, Job, Probe
from kfuzz.devices.cpu.device import CpuDevice


def clustered(entry: str, arguments: dict[str, Value], block: int = 64) -> Job:
    """Two blocks that make a cluster."""
    job = planted("clusters", entry, arguments, block=block, grid=2)
    return replace(job, steps=(replace(job.steps[0], cluster=(2, 1, 1)),))


def errors(device: CpuDevice, entry: str, y: str = "f32[128]") -> list[Finding]:
    outcome = device.run(clustered(entry, {"y": y}), Probe(check=True, runs=3, seed=0, timeout=20.0))
    return [one for one in outcome.findings if one.severity == "error"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("behind_the_array", "mine[64] of block "),
        ("no_such_block", "which is in no array"),
        ("nobody_writes", ", which was never written"),
        ("arrives_twice", "arrives twice at the cluster's barrier"),
        ("waits_at_once", "without having arrived"),
    ],
)
def test_a_bug_in_a_cluster_is_reported_with_its_line(device: CpuDevice, entry: str, words: str) -> None:
    findings, text = errors(device, entry), source("clusters")
    assert reported(text, entry, findings) == expected(text, entry)
    assert any(words in one.message for one in findings), findings


def test_a_message_by_atomics_reaches_another_block_of_the_cluster(device: CpuDevice) -> None:
    assert errors(device, "flag_of_the_other", "f32[2]") == []


def test_a_block_knows_its_place_in_a_cluster_of_two_axes(device: CpuDevice) -> None:
    job = planted("clusters", "where_it_is", {"y": "i32[48]"}, block=1)
    job = replace(job, steps=(replace(job.steps[0], grid=(2, 3, 1), cluster=(1, 3, 1)),))
    outcome = device.run(job, Probe(check=True, runs=1, seed=0, timeout=20.0))
    got = outcome.runs[0].outputs["y"].reshape(3, 2, 8)
    for block, x in np.ndindex(3, 2):
        assert got[block, x].tolist() == [1, 3, 0, block, block, block, 100 * block, 1]


KERNEL = """// A cluster.
//
// /// kernel
// op     = "row_sum"
// axes   = {{ rows = "1..100", cols = "1..100" }}
// arrays = {{ x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }}
//
// [[launch]]
// entry = "k"
// grid  = "rows * 4"{said}
// block = 32
// args  = ["y", "x", "cols"]
// ///
__global__ void {dims} k(float *y, const float *x, int cols) {{}}
"""


@pytest.mark.parametrize(
    ("said", "dims", "cluster"),
    [
        ("", "", ()),
        ("", "__cluster_dims__(4, 1, 1)", (4, 1, 1)),
        ("\n// cluster = 2", "", (2, 1, 1)),
        ("\n// cluster = 2", "__cluster_dims__(SIDE)", (2, 1, 1)),
    ],
)
def test_a_launch_has_the_clusters_that_the_claim_or_the_kernel_declares(
    tmp_path: Path, said: str, dims: str, cluster: tuple[int, ...]
) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(said=said, dims=dims))
    bound = load(path).bind({"x": np.ones((2, 3), np.float32)}, {})
    assert bound.job.steps[0].cluster == cluster


@pytest.mark.parametrize(
    ("said", "dims", "words"),
    [
        ("\n// cluster = 3", "", "a multiple of the cluster's 3"),
        ('\n// cluster = "8, 4"', "", "a cluster has at most 16"),
        ("", "__cluster_dims__(SIDE, 1, 1)", "say what these numbers are"),
    ],
)
def test_an_impossible_cluster_is_an_error_in_the_claim(tmp_path: Path, said: str, dims: str, words: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(KERNEL.format(said=said, dims=dims))
    with pytest.raises(ClaimError, match=words):
        load(path)

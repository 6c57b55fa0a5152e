"""Accesses that streams, events and the host order are not findings; accesses that they do not order are races."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from planted_jobs import PLANTED, expected_if, source
from program_runs import built, server

from kfuzz.devices import Finding
from kfuzz.devices.cpu.compiler import Library
from kfuzz.devices.cpu.programs.build import load_program
from kfuzz.devices.cpu.programs.check import CheckedProgram


def list_parts(name: str) -> tuple[tuple[str, ...], ...]:
    """The parts of a planted program by name: the right, the wrong and those that are neither."""
    _, *parts = re.split(r"// (?:Right\.|Wrong\.|Neither:)", source(name))
    return tuple(tuple(re.findall(r'is\("(\w+)"\)', part)) for part in parts)


RIGHT, WRONG, NEITHER = list_parts("streams")
RIGHT_GRAPHS, WRONG_GRAPHS = list_parts("graphs")
TELLS = {
    "no_event": " of the launch in line 2",
    "overwritten_too_early": "needs an event and cudaStreamWaitEvent() between line",
    "memset_is_not_waited_for": "which a memset wrote, and nothing orders the two",
    "nor_a_copy_on_the_device": "which a copy wrote",
    "copied_too_early": "a copy reads x.a[0], which thread 0 of block 0 of the launch in line 2",
    "read_too_early": "the host reads x.pinned[7], which a copy wrote, and nothing orders the two; the host does not "
    "wait: needs cudaStreamSynchronize() or similar between line",
    "refilled_too_early": "the host writes x.pinned[8], which a copy read",
    "managed_too_early": "the host reads x.managed[9], which thread 9 of block 0 of the launch in line 2",
    "zeroed_by_the_host": "the host writes x.managed[0]",
    "called_back_meanwhile": "which a host function on a stream wrote",
    "symbol_meanwhile": "a copy writes scale[0], which thread",
    "freed_meanwhile": "cudaFreeAsync writes c[0], which thread",
    "not_yet_allocated": "which cudaMallocAsync wrote",
}
TELLS_OF_GRAPHS = {
    "missing_edge": "no path of the graph connects the two nodes: needs an edge (cudaGraph",
    "copied_beside": "a copy reads x.a[0], which thread 0 of block 0 of the launch in line",
    "called_beside": "a host function on a stream reads x.pinned[0], which a copy wrote",
    "two_graphs": "nothing orders the two streams: needs an event",
    "read_before_it_ends": "the host does not wait: needs cudaStreamSynchronize()",
}
IN_THE_SUITE = (
    *("no_event", "nor_a_copy_on_the_device", "read_too_early", "managed_too_early", "called_back_meanwhile"),
    *("freed_meanwhile", "missing_edge", "copied_beside"),
)
"""Of each kind of access one; `make soak` runs the others."""


def seldom(names: Iterable[str]) -> list[object]:
    return [pytest.param(one, marks=() if one in IN_THE_SUITE else pytest.mark.soak) for one in names]


def build(name: str, folder: Path) -> Library:
    return load_program(built(folder, str(PLANTED / f"{name}.cu")))


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build("streams", tmp_path_factory.mktemp("streams"))


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return build("graphs", tmp_path_factory.mktemp("graphs"))


def find_races(streams: Library, which: str, runs: int) -> tuple[Finding, ...]:
    program = CheckedProgram(streams, ("streams", which), 20.0, server(), lambda _: None)
    found = program.examine(runs, seed=1).findings
    assert {one.exit_code for one in program.printed} <= {0, None}
    return found


def test_there_are_enough_right_and_wrong_parts() -> None:
    assert len(RIGHT) >= 20
    assert len(WRONG) >= 20
    assert set(WRONG) >= set(TELLS)
    assert len(RIGHT_GRAPHS) >= 15
    assert len(WRONG_GRAPHS) >= 15
    assert set(WRONG_GRAPHS) >= set(TELLS_OF_GRAPHS)
    assert set(WRONG) | set(WRONG_GRAPHS) >= set(IN_THE_SUITE)


RUNS = pytest.mark.parametrize("runs", [1, pytest.param(2, marks=pytest.mark.soak)])


@RUNS
@pytest.mark.slow
def test_accesses_that_streams_events_and_the_host_order_are_not_accused(streams: Library, runs: int) -> None:
    assert [(which, find_races(streams, which, runs)) for which in RIGHT] == [(which, ()) for which in RIGHT]


@pytest.mark.slow
def test_a_kernel_that_waits_for_the_host_is_not_judged(streams: Library) -> None:
    for which in NEITHER:
        program = CheckedProgram(streams, ("streams", which), 0.3, server(), lambda _: None)
        assert program.examine(1, seed=1).findings == ()
        assert "a run did not end after 0.3 s" in program.stopped


@pytest.mark.slow
@pytest.mark.parametrize("which", seldom(WRONG))
def test_unordered_accesses_are_a_race_that_names_both_places(streams: Library, which: str) -> None:
    text = source("streams").splitlines()
    found = [one for one in find_races(streams, which, runs=1) if one.severity == "error"]
    _, kind, line = expected_if("streams", which)
    assert {one.kind for one in found} == {kind}, found
    kernel = re.match(r"\s*(FILL|ADD)", text[line - 1])
    if kernel is None:
        assert line in {one.line for one in found}, found
    assert all(one.other_line for one in found), found
    assert any(TELLS.get(which, "nothing orders the two") in one.message for one in found), found


@RUNS
@pytest.mark.slow
def test_accesses_that_edges_of_a_graph_order_are_not_accused(graphs: Library, runs: int) -> None:
    assert [(which, find_races(graphs, which, runs)) for which in RIGHT_GRAPHS] == [(w, ()) for w in RIGHT_GRAPHS]


@pytest.mark.slow
@pytest.mark.parametrize("which", seldom(WRONG_GRAPHS))
def test_a_missing_edge_of_a_graph_is_a_race_at_the_node(graphs: Library, which: str) -> None:
    found = [one for one in find_races(graphs, which, runs=1) if one.severity == "error"]
    _, kind, line = expected_if("graphs", which)
    assert {one.kind for one in found} == {kind}, found
    of_kernels = [one for one in found if one.calls]
    assert not of_kernels or any(f"(line {line})" in call for one in of_kernels for call in one.calls), found
    assert any(TELLS_OF_GRAPHS.get(which, "nothing orders the two") in one.message for one in found), found


DEFAULT_STREAM = """
__global__ void fill(int *a) { a[threadIdx.x] = 1; }
__global__ void add(int *a) { a[threadIdx.x] += 1; }
int main(int argc, char **) {
  int *a;
  cudaStream_t s;
  cudaMalloc(&a, 128);
  cudaStreamCreate(&s);
  fill<<<1, 32, 0, s>>>(a);
  if (argc > 1) cudaStreamSynchronize(s);
  add<<<1, 32>>>(a);
  cudaDeviceSynchronize();
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("stream", "races"), [("per-thread", True), ("legacy", False)])
def test_the_default_stream_of_a_thread_waits_for_no_other(tmp_path: Path, stream: str, races: bool) -> None:
    (tmp_path / "two.cu").write_text(DEFAULT_STREAM, encoding="utf-8")
    library = load_program(built(tmp_path, f"--default-stream={stream}", str(tmp_path / "two.cu")))
    for waits in (False, True):
        words = ("two", "waits") if waits else ("two",)
        found = CheckedProgram(library, words, 20.0, server(), lambda _: None).examine(2, seed=1).findings
        assert {one.kind for one in found} == ({"race"} if races and not waits else set()), found

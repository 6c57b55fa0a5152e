"""How times are taken and evaluated, on recorded numbers and a clock that the test passes in."""

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle
from types import SimpleNamespace
from typing import cast

import click
import numpy as np
import pytest
from click.testing import CliRunner
from fraction_ranges import can_agree
from numpy.typing import NDArray
from paths import KERNELS

from benchmarks.speed import kernels as speed
from benchmarks.speed.sections.kernels import show_size
from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.gpu import graphs
from kfuzz.devices.gpu.device import why_not
from kfuzz.measure.speed import copies, figures, protocol
from kfuzz.measure.speed.bench import KernelTimes
from kfuzz.measure.speed.entrant import bound_at, choose_rows
from kfuzz.measure.speed.rivals import RIVALS, check_installed, compile_rival, knows
from kfuzz.measure.speed.sizes import sizes_of, tunes_at
from kfuzz.ui.commands.bench import bench, parse_rivals
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports import timing

H200 = figures.GpuFigures("H200", 50 << 20, 4.8e12)
MEGABYTES = figures.Traffic(256 << 20, 256 << 20)


def recorded(name: str, *microseconds: float) -> figures.Recording:
    return figures.Recording(name, tuple(one * 1e-6 for one in microseconds))


def heat(*kernels: figures.Recording, rivals: tuple[figures.Recording, ...] = ()) -> figures.Heat:
    copies = (recorded("slow copy", 140, 141, 142), recorded("copy", 125, 126, 127))
    return figures.Heat({"rows": 65536, "cols": 1024}, MEGABYTES, kernels, rivals, copies, {})


@dataclass(frozen=True)
class Launches:
    """A graph that knows how long it takes."""

    seconds: float

    def replay(self) -> None: ...


class RecordedClock:
    """Gives graphs the time that they have, and notes the turns."""

    def __init__(self) -> None:
        self.turns: list[float] = []

    def seconds(self, graph: Launches) -> float:
        return graph.seconds

    def clear_cache(self) -> None:
        self.turns.append(0.0)


class Gpu:
    """Notes what a session and the copies on it are asked for."""

    cache = 60 << 20

    def __init__(self) -> None:
        self.asked: list[object] = []

    def forget_persisting(self) -> None:
        self.asked.append("forgotten")

    def enqueue(self, shape: copies.CopyShape, to: int, source: int, vectors: int) -> None:
        self.asked.append((shape[2], to, source, 16 * vectors))

    def wait(self) -> None:
        self.asked.append("done")


def test_the_cache_is_cleared_by_a_plain_copy_through_it_and_a_streamed_one_of_the_same_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu, places = Gpu(), iter((1 << 30, 2 << 30))
    monkeypatch.setattr(copies, "CopyKernels", lambda session: session)
    monkeypatch.setattr(graphs, "DeviceBytes", lambda nbytes: SimpleNamespace(nbytes=nbytes, address=next(places)))
    copies.ClearingClock(cast(graphs.Session, gpu)).clear_cache()
    through = (1 << 30, 2 << 30, Gpu.cache)
    assert gpu.asked == ["forgotten", ("PLAIN", *through), ("STREAMED", *through), "done"]


def test_the_page_of_speeds_has_the_fraction_of_the_copies_that_keep_nothing() -> None:
    names = [copies.name_of(shape) for shape in copies.SHAPES]
    assert names == [
        "copy 256x4 streamed", "copy 512x1 streamed", "copy 256x1", "copy 512x2", "copy 1024x1", "copy 256x1 kept",
    ]  # fmt: skip
    some = tuple(
        recorded(name, micros, micros) for name, micros in zip(names, (140, 130, 120, 125, 128, 110), strict=True)
    )
    one = figures.Heat({"rows": 65536, "cols": 1024}, MEGABYTES, (recorded("mine", 100, 100),), (), some, {})
    made = speed.size_record("softmax/fastest", one, H200.peak)
    assert show_size(made, [])[:4] == ["65536x1024", "4.88", "**1.100**", "1.200"]


def entrant(name: str, seconds: float) -> protocol.Contestant:
    return protocol.Contestant(name, lambda launches: Launches(launches * seconds))


def test_a_median_is_not_moved_by_one_slow_replay() -> None:
    one = recorded("k", 100, 101, 99, 100, 900)
    assert one.median == pytest.approx(100e-6)
    assert recorded("k", 100, 100, 100, 100).spread == 0


def test_a_fraction_is_of_the_best_copy_of_the_same_run() -> None:
    kernel = recorded("k", 140, 140, 140)
    assert heat(kernel).copy.name == "copy"
    assert heat(kernel).fraction(kernel) == pytest.approx(126 / 140)


def test_a_difference_under_one_percent_is_a_tie() -> None:
    torch = recorded("torch", 100, 100, 100)
    assert figures.describe_rank(recorded("k", 99.5, 99.5, 99.5), [torch]) == "tie with torch"
    assert figures.describe_rank(recorded("k", 80, 80, 80), [torch]) == "ahead of torch by 25%"
    assert figures.describe_rank(recorded("k", 125, 125, 125), [torch]) == "behind torch by 25%"
    assert figures.describe_rank(recorded("k", 80, 80, 80), []) == ""


def test_the_rank_compares_with_the_fastest_rival() -> None:
    rivals = [recorded("torch", 200, 200, 200), recorded("Triton", 110, 110, 110)]
    assert figures.describe_rank(recorded("k", 100, 100, 100), rivals) == "ahead of Triton by 10%"


def test_a_time_that_the_memory_cannot_reach_is_refused() -> None:
    rotation = 2 * MEGABYTES.total
    assert figures.beyond_physics(recorded("k", 30, 30, 30), MEGABYTES, H200, rotation).startswith(
        "faster than physics"
    )
    assert figures.beyond_physics(recorded("k", 126, 126, 126), MEGABYTES, H200, rotation) == ""


def test_bytes_in_the_cache_need_not_pass_the_pins() -> None:
    # two sets of a quarter of the cache each need not pass the pins at all
    small = figures.Traffic(6 << 20, 6 << 20)
    assert figures.beyond_physics(recorded("k", 1, 1, 1), small, H200, 2 * small.total) == ""


def test_a_change_has_its_p_value() -> None:
    before, now = [0.95 + 0.001 * (i % 3) for i in range(30)], [0.90 + 0.001 * (i % 3) for i in range(30)]
    chance = figures.chance_of_no_change(before, now)
    assert chance < 0.001
    assert figures.chance_of_no_change(before, before) > 0.5
    assert figures.describe_change(0.95, 0.90, chance).startswith("slower: 0.900 of copy, was 0.950")
    assert figures.describe_change(0.95, 0.96, chance).startswith("faster")
    assert figures.describe_change(0.95, 0.945, chance) == "as before"


@pytest.mark.parametrize(("nbytes", "sets"), [(1 << 20, 400), (100 << 20, 4), (4 << 30, 2)])
def test_a_rotation_fills_eight_caches(nbytes: int, sets: int) -> None:
    assert protocol.rotation_of(nbytes, H200.cache) == sets


@pytest.mark.parametrize("seconds", [2e-6, 5e-5, 3e-3])
def test_a_graph_lasts_long_enough_and_goes_through_whole_rotations(seconds: float) -> None:
    launches = protocol.launches_of(seconds, 50)
    assert launches % 50 == 0
    assert launches * seconds >= protocol.LEAST_GRAPH


def test_all_contestants_are_timed_in_turns_and_equally_often() -> None:
    clock = RecordedClock()
    found = protocol.time_in_turns([entrant("a", 5e-6), entrant("b", 7e-6)], clock, 10)
    assert [one.name for one in found] == ["a", "b"]
    assert [one.median for one in found] == [pytest.approx(5e-6), pytest.approx(7e-6)]
    assert {len(one.seconds) for one in found} == {protocol.ROUNDS * protocol.REPLAYS}
    assert len(clock.turns) == 2 * protocol.ROUNDS


def test_a_slow_phase_of_the_gpu_affects_all_contestants() -> None:
    """A clock that falls by half in some rounds: of contestants one after the other one would seem slower."""

    class Throttled(RecordedClock):
        def __init__(self, paces: Iterator[float]) -> None:
            super().__init__()
            self.paces, self.pace = paces, 1.0

        def seconds(self, graph: Launches) -> float:
            return graph.seconds * self.pace

        def clear_cache(self) -> None:
            self.pace = next(self.paces)

    paces = cycle([1.0, 1.0, 2.0, 2.0, 1.0, 1.0])  # two contestants a round
    found = protocol.time_in_turns([entrant("a", 5e-6), entrant("b", 5e-6)], Throttled(paces), 10)
    assert found[0].median == found[1].median


def test_the_fastest_of_several_launches_is_timed() -> None:
    every = [entrant("slow", 9e-6), entrant("fast", 4e-6), entrant("middle", 5e-6)]
    assert protocol.find_fastest(every, RecordedClock(), 4).name == "fast"


def test_launches_that_an_estimate_cannot_tell_apart_are_timed_in_turns() -> None:
    class SlowAtFirst(RecordedClock):
        """The first graph finds a GPU that sleeps: layer_norm lost 2 % to a slower launch that way."""

        def seconds(self, graph: Launches) -> float:
            self.turns.append(0.0)
            return graph.seconds * (1.05 if len(self.turns) <= 3 else 1.0)

    every = [entrant("fast", 4.9e-6), entrant("next", 5e-6), entrant("slow", 9e-6)]
    assert protocol.find_fastest(every, SlowAtFirst(), 4).name == "fast"


def test_sizes_are_those_that_the_claim_holds() -> None:
    short = load(KERNELS / "softmax" / "lanes_a_row.cu")
    assert sizes_of(short, [(4096, 128)]) == [{"rows": 4096, "cols": 128}]
    assert sizes_of(short, []) == []
    with pytest.raises(ClaimError, match="does not claim rows=4 cols=1024"):
        sizes_of(short, [(4, 1024)])
    with pytest.raises(ClaimError, match="has 2 axes, rows, cols"):
        sizes_of(short, [(4,)])
    assert len(sizes_of(load(KERNELS / "softmax" / "fastest.cu"), [])) == 5


def test_only_launches_that_fit_the_size_are_tried() -> None:
    block = load(KERNELS / "softmax" / "block_in_registers.cu")
    some = tunes_at(block, {"rows": 8, "cols": 32768})
    assert [(one["threads"], one["vectors"]) for one in some] == [(512, 16), (1024, 8)]


def test_one_row_is_judged_if_each_takes_the_oracle_seconds() -> None:
    kernel = load(KERNELS / "softmax" / "fastest.cu")

    def choose_judged_rows(rows: int, cols: int) -> NDArray[np.int64] | None:
        return choose_rows(kernel, bound_at(kernel, {"rows": rows, "cols": cols}, {}).job, 7)

    many, one = choose_judged_rows(4096, 1 << 18), choose_judged_rows(8, 1 << 23)
    assert many is not None
    assert one is not None
    assert (many[0], many[-1], len(many)) == (0, 4095, 4)
    assert len(one) == 1
    with pytest.raises(ClaimError, match="no answer of so many elements is judged"):
        choose_judged_rows(1, 1 << 28)


def test_the_table_has_rate_fraction_and_rank() -> None:
    one = KernelTimes("softmax/fastest", "softmax", (heat(recorded("softmax/fastest", 130, 130, 130),
                                                    rivals=(recorded("torch", 260, 260, 260),)),))  # fmt: skip
    table = timing.table(one)
    assert "4.13" in table[1]
    assert "0.969" in table[1]
    assert table[1].endswith("ahead of torch by 100%")
    assert [line.split()[-1] for line in timing.bars(one)] == ["0.97", "0.48"]


def test_a_kernel_that_is_refused_has_no_figure_in_the_table() -> None:
    wrong = figures.Heat({"rows": 2, "cols": 2}, MEGABYTES, (), (), (), {"k": "its answer is broken"})
    assert timing.table(KernelTimes("k", "softmax", (wrong,)))[1].endswith("no figure: its answer is broken")


def test_a_rival_that_does_not_take_a_size_is_a_dash_and_no_failure() -> None:
    held = heat(recorded("k", 130, 130), rivals=(recorded("torch", 260, 260),))
    held.refused["QuACK"] = "8.6 GB in one array, and it takes 4"
    lines = timing.table(KernelTimes("k", "softmax", (held,)))
    assert lines[-1].split()[:4] == ["QuACK", "-", "-", "-"]
    assert lines[-1].endswith("it does not take this: 8.6 GB in one array, and it takes 4")
    record = speed.size_record("k", held, 4.8e12)
    assert record["refused"] == ""
    assert show_size(record, ["torch", "QuACK"])[6:] == ["0.485", "-", "ahead of torch by 100%"]


def test_a_rival_gets_no_array_that_is_larger_than_it_takes() -> None:
    class Large:
        """As much of a tensor as is asked for."""

        def numel(self) -> int:
            return 1 << 31

        def element_size(self) -> int:
            return 4

    with pytest.raises(MemoryError, match=r"8\.0 GB in one array, and it takes 4"):
        compile_rival(None, "quack", "softmax", {"x": Large()})


def test_rivals_are_named_as_users_write_them() -> None:
    parameter = bench.params[0]
    context = click.Context(bench)
    assert parse_rivals(context, parameter, "quack,liger,torch.compile") == ("quack", "liger", "compile")
    with pytest.raises(click.BadParameter, match="'numpy' is not a rival; choose from torch, compile, "):
        parse_rivals(context, parameter, "torch,numpy")
    assert {name for name in RIVALS if knows(name, "rms_norm")} == {"torch", "compile", "quack", "liger"}


@pytest.mark.skipif(importlib.util.find_spec("quack") is not None, reason="QuACK is installed")
def test_a_rival_that_is_not_installed_is_named_with_its_package() -> None:
    with pytest.raises(DeviceError, match="--against quack: quack is not installed; leave it out, or install quack-k"):
        check_installed(["quack"])


def test_a_json_file_can_be_compared_with_a_later_run() -> None:
    before = KernelTimes("k", "softmax", (heat(recorded("k", *[130] * 10)),))
    now = KernelTimes("k", "softmax", (heat(recorded("k", *[160] * 10)),))
    document = timing.as_document([before], "H200", {"cuda": "13.0"})
    assert json.loads(document)["kernels"][0]["sizes"][0]["kernels"][0]["fraction"] == pytest.approx(126 / 130)
    assert timing.compare_figures([before], timing.read_earlier(document)) == ["k 65536x1024: as before"]
    assert timing.compare_figures([now], timing.read_earlier(document))[0].startswith("k 65536x1024: slower: 0.788")


def test_the_drawing_has_a_line_for_each_contestant() -> None:
    one = KernelTimes("k", "softmax", (heat(recorded("k", 130, 130), rivals=(recorded("torch <1>", 260, 260),)),))
    svg = timing.as_svg(one)
    assert svg.count("<polyline") == 2
    assert "torch &lt;1&gt;" in svg


@pytest.mark.skipif(why_not() is None, reason="this machine has a GPU")
def test_without_a_gpu_it_says_so_in_one_line() -> None:
    done = CliRunner().invoke(main, ["bench", "softmax/fastest"])
    assert done.exit_code == 2
    assert done.output.startswith("kfuzz bench measures on a GPU, and there is none: ")
    assert done.output.count("\n") == 1


def test_a_product_is_compared_with_cublas_or_with_the_peak_if_that_takes_longer_than_a_copy() -> None:
    own = recorded("mine", 250, 250, 251)
    plain = heat(own)
    by_cublas = replace(plain, products=(recorded("cuBLAS", 200, 200, 201),), cost=figures.ProductCost(1 << 40, 1e-4))
    of_peak = replace(plain, cost=figures.ProductCost(1 << 40, 1.5e-4))
    of_copy = replace(plain, cost=figures.ProductCost(1 << 20, 1e-6))
    reported = [(one.measure.name, round(one.fraction(own), 2)) for one in (by_cublas, of_peak, of_copy)]
    assert reported == [("cuBLAS", 0.8), ("peak", 0.6), ("copy", 0.5)]
    assert [line.split()[:5] for line in timing.table(KernelTimes("k", "sgemm", (of_copy, by_cublas)))[::3]] == [
        ["size", "us", "TB/s", "of", "copy"], ["size", "us", "TFLOP/s", "of", "cuBLAS"],
    ]  # fmt: skip


def test_figures_of_two_runs_agree_if_other_work_delays_some_replays_and_not_if_the_kernel_is_slower() -> None:
    quiet = heat(recorded("mine", 130, 130.3, 130.6))
    busy = figures.Heat(
        quiet.axes, MEGABYTES, (recorded("mine", 140, 390, 911),), (), (recorded("copy", 128, 470, 800),), {}
    )
    slower = heat(recorded("mine", 133, 133.3, 133.6))
    assert can_agree(quiet, busy)
    assert can_agree(busy, slower)  # so much other work hides the difference
    assert not can_agree(quiet, slower)

"""Times on a GPU: figures that agree, and kernels that would fool a protocol."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fraction_ranges import can_agree
from paths import DATA, KERNELS

from kfuzz.campaign.device import open_device
from kfuzz.claims.kernel import load
from kfuzz.devices import Device
from kfuzz.devices.gpu import graphs
from kfuzz.measure.speed.bench import KernelTimes, check_timed_answer, time_kernel
from kfuzz.measure.speed.entrant import Entrant, Rotation, bound_at
from kfuzz.measure.speed.sizes import tunes_at

pytestmark = pytest.mark.gpu

CHEATS = DATA / "cheats"
TIMED = DATA / "timed"
FASTEST = KERNELS / "softmax" / "fastest.cu"
TWO_MILLION = {"rows": 2048, "cols": 1024}


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = open_device("gpu")
    yield device
    device.close()


def figures(path: Path, device: Device) -> KernelTimes:
    return time_kernel(load(path), [TWO_MILLION], (), device, lambda _: None)


def test_figures_of_two_runs_agree(device: Device) -> None:
    first, second = (figures(FASTEST, device).races[0] for _ in range(2))
    assert not first.refused
    assert not second.refused
    assert first.measure.name == second.measure.name == "copy"
    assert can_agree(first, second)


def test_a_kernel_that_keeps_its_answer_has_no_figure(device: Device) -> None:
    (heat,) = figures(CHEATS / "keeps_its_answer.cu", device).races
    assert not heat.kernels
    assert "leaves elements of y unwritten" in heat.refused["keeps_its_answer"]


def test_a_kernel_that_skips_work_above_a_million_elements_has_no_figure(device: Device) -> None:
    (heat,) = figures(CHEATS / "skips_above_a_million.cu", device).races
    assert not heat.kernels
    assert "its answer is broken" in heat.refused["skips_above_a_million"]


@pytest.mark.parametrize(
    ("name", "timed_as"), [("softmax.py", "softmax"), ("softmax_that_asks.py", "softmax_that_asks (calls)")]
)
def test_a_callable_is_timed_as_a_graph_where_it_can_be_recorded(name: str, timed_as: str, device: Device) -> None:
    pytest.importorskip("torch")
    (heat,) = figures(TIMED / name, device).races
    assert [one.name for one in heat.kernels] == [timed_as], heat.refused


def test_a_callable_that_keeps_its_answer_has_no_figure(device: Device) -> None:
    pytest.importorskip("torch")
    (heat,) = figures(CHEATS / "keeps_large_answers.py", device).races
    assert not heat.kernels
    assert "its answer is broken" in heat.refused["keeps_large_answers"]


def test_a_host_function_is_timed_with_its_launches(device: Device) -> None:
    (heat,) = figures(TIMED / "row_sum_by_host.cu", device).races
    assert [one.name for one in heat.kernels] == ["row_sum_by_host (calls)"], heat.refused


class Elsewhere(graphs.Session):
    """Records graphs on one stream, and has its launches made on another, which nobody waits for."""

    def graph(self, record: Callable[[], None]) -> graphs.RecordedGraph:
        mine, elsewhere = self.stream, graphs.new_stream()

        def moved() -> None:
            self.stream = elsewhere
            record()
            self.stream = mine

        return super().graph(moved)


@pytest.mark.parametrize("kind", [graphs.Session, Elsewhere])
def test_work_that_outlasts_its_stream_has_no_figure(kind: type[graphs.Session]) -> None:
    kernel = load(FASTEST)
    session = kind()
    bound = bound_at(kernel, TWO_MILLION, next(tunes_at(kernel, TWO_MILLION)))
    reason = check_timed_answer(session, Entrant(session, Rotation(kernel, bound, 2)))
    assert bool(reason) == (kind is Elsewhere)

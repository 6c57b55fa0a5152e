"""Times on a card: figures that agree, and kernels that would fool a protocol."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kfuzz.claims.kernel import load
from kfuzz.devices.gpu import graphs
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.timing.bench import Timed, timed, wrong_when_timed
from kfuzz.timing.entrant import Entrant, Rotation, bound_at
from kfuzz.timing.sizes import tunes_at

pytestmark = pytest.mark.gpu

CHEATS = Path(__file__).with_name("cheats")
FASTEST = Path(__file__).parents[1] / "kernels" / "softmax" / "fastest.cu"
TWO_MILLION = {"rows": 2048, "cols": 1024}


@pytest.fixture(scope="module")
def device() -> Iterator[GpuDevice]:
    device = GpuDevice()
    yield device
    device.close()


def figures(path: Path, device: GpuDevice) -> Timed:
    return timed(load(path), [TWO_MILLION], (), device, lambda _: None)


def test_figures_of_two_runs_agree(device: GpuDevice) -> None:
    first, second = (figures(FASTEST, device).races[0] for _ in range(2))
    assert not first.refused
    assert not second.refused
    assert abs(first.fraction(first.kernels[0]) - second.fraction(second.kernels[0])) < 0.01


def test_a_kernel_that_keeps_its_answer_has_no_figure(device: GpuDevice) -> None:
    (heat,) = figures(CHEATS / "keeps_its_answer.cu", device).races
    assert not heat.kernels
    assert "leaves elements of y unwritten" in heat.refused["keeps_its_answer"]


def test_a_kernel_that_skips_work_above_a_million_elements_has_no_figure(device: GpuDevice) -> None:
    (heat,) = figures(CHEATS / "skips_above_a_million.cu", device).races
    assert not heat.kernels
    assert "its answer is broken" in heat.refused["skips_above_a_million"]


class Elsewhere(graphs.Session):
    """Records graphs on one stream, and has its launches made on another, which nobody waits for."""

    def graph(self, record: Callable[[], None]) -> graphs.Replayed:
        mine, elsewhere = self.stream, graphs.new_stream()

        def moved() -> None:
            self.stream = elsewhere
            record()
            self.stream = mine

        return super().graph(moved)


@pytest.mark.parametrize("kind", [graphs.Session, Elsewhere])
def test_what_is_not_done_when_its_stream_is_has_no_figure(kind: type[graphs.Session]) -> None:
    kernel = load(FASTEST)
    session = kind()
    bound = bound_at(kernel, TWO_MILLION, next(tunes_at(kernel, TWO_MILLION)))
    reason = wrong_when_timed(session, Entrant(session, Rotation(kernel, bound, 2)))
    assert bool(reason) == (kind is Elsewhere)

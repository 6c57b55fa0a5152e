"""Campaigns on a Dask cluster: the same findings in the same order for any number of workers, even if some are lost."""

import contextlib
import json
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cluster import TestCluster, cluster_of, fuzzing
from settled import settled

from kfuzz.campaign.children import Work
from kfuzz.campaign.crew import parcels_of
from kfuzz.campaign.errand import check_errand, code_version, errand
from kfuzz.campaign.schedule import BLOCKS, Block
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices import Device, DeviceError
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.commands.group import main

pytest.importorskip("distributed", reason="no distributed here: pip install 'kfuzz[cluster]'")
from kfuzz.campaign.cluster import connect, run_errands

pytestmark = pytest.mark.slow

ASKED = ("broken/leading_neg_inf", "softmax/online_warp", "broken/tail_dropped", "--seed", "3",
         "--device", "cpu", "--json", "run.json", "--max-cases")  # fmt: skip
FEW, MANY = "30", "240"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestCluster]:
    with cluster_of(tmp_path_factory.mktemp("cluster"), 2) as made:
        yield made


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """What one process of this machine finds in so many trials."""

    @cache
    def found(cases: str) -> Path:
        folder = tmp_path_factory.mktemp("here")
        fuzzed(folder, *ASKED, cases, "--jobs", "1")
        return folder

    return found


def fuzzed(folder: Path, *arguments: str) -> str:
    """What a campaign says that is left alone."""
    with fuzzing(folder, *arguments) as process:
        said, trouble = process.communicate()
    assert (process.returncode, trouble) == (1, "")
    return said


def corpus_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "tests").rglob("*.json")}


def report(folder: Path) -> object:
    return settled(json.loads((folder / "run.json").read_text()))


def findings_in(said: str) -> list[str]:
    """The findings in the order in which they were told, without the seconds."""
    return [line.partition("] ")[2] for line in said.splitlines() if "] error: " in line]


def test_whole_blocks_of_several_kernels_go_together_in_their_order() -> None:
    """Small ones go alone; and what is not known yet keeps nothing back that is."""
    whole = BLOCKS[-1]
    small = [Block(0, 0, 2), Block(1, 0, 2)]
    large = [Block(kernel, whole, 2 * whole) for kernel in (0, 1, 2, 3, 4, 5)]
    again = [Block(kernel, 2 * whole, 3 * whole) for kernel in (5, 0)]
    parcels = list(parcels_of(iter([*small, *large, *again, None, None, Block(1, 96, 100), *large[:1]])))
    assert parcels == [
        *((one,) for one in small), tuple(large[:4]), tuple(large[4:]), tuple(again), None, None,
        (Block(1, 96, 100),), (large[0],),
    ]  # fmt: skip


def check_same(address: str, cases: str, here: Path, folder: Path) -> None:
    said = fuzzed(folder, *ASKED, cases, "--cluster", address)
    assert f"on the cpu of {address} (seed 3)" in said
    assert len(findings_in(said)) == len(set(findings_in(said))) >= 2
    assert report(folder) == report(here)
    assert corpus_files(folder) == corpus_files(here) != {}


@pytest.mark.soak
def test_two_workers_find_the_same(cluster: TestCluster, here: Callable[[str], Path], tmp_path: Path) -> None:
    check_same(cluster.address, FEW, here(FEW), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_finds_the_same(workers: int, here: Callable[[str], Path], tmp_path: Path) -> None:
    with cluster_of(tmp_path / "cluster", workers) as made:
        check_same(made.address, MANY, here(MANY), tmp_path)


def killed_at_moments(made: TestCluster, moments: int, folder: Path, seed: int) -> list[str]:
    """What a campaign tells while workers are lost, each after so many more lines or a moment later."""
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    lost = 0
    with fuzzing(folder, *ASKED, MANY, "--cluster", made.address) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while process.poll() is None and lost < moments:
            made.lose()
            lost += 1
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.0, 2.0))
        rest, trouble = process.communicate()
    assert (process.returncode, trouble) == (1, "")
    return findings_in("".join(lines) + rest)


@pytest.mark.soak
@pytest.mark.parametrize("moments", [3, 50])
def test_workers_that_are_lost_change_nothing(moments: int, here: Callable[[str], Path], tmp_path: Path) -> None:
    with cluster_of(tmp_path / "cluster", 2) as made:
        reported = killed_at_moments(made, moments, tmp_path, seed=moments)
    assert len(reported) == len(set(reported)) >= 2
    assert report(tmp_path) == report(here(MANY))
    assert corpus_files(tmp_path) == corpus_files(here(MANY))


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_campaign_that_is_ended_is_gone_on_with(
    number: signal.Signals, cluster: TestCluster, here: Callable[[str], Path], tmp_path: Path
) -> None:
    asked = (*ASKED, MANY, "--cluster", cluster.address, "--out", "out")
    with fuzzing(tmp_path, *asked) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "] error: " in line:
                break
        process.send_signal(number)
        process.stdout.read()
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    fuzzed(tmp_path, *asked)
    assert report(tmp_path) == report(here(MANY))
    assert corpus_files(tmp_path) == corpus_files(here(MANY))


@pytest.mark.soak
def test_time_ends_a_campaign_there_too(cluster: TestCluster, tmp_path: Path) -> None:
    asked = ("reduce/warp_max_down", "--device", "cpu", "--max-time", "4s", "--cluster", cluster.address, "--json", "r")
    with fuzzing(tmp_path, *asked) as process:
        _, trouble = process.communicate()
    assert trouble == ""
    assert json.loads((tmp_path / "r").read_text())["stop_reason"] == "max-time"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cluster", "tcp://127.0.0.1:9"), "--cluster tcp://127.0.0.1:9: no Dask scheduler answers there"),
        (("--cluster", "nowhere"), "--cluster nowhere: not the address of a scheduler; write tcp://HOST:8786"),
        (("--cluster", "HERE", "--device", "gpu"), "no worker offers a GPU"),
        (("--cluster", "HERE", "--jobs", "2"), "--jobs works only on this machine"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: tuple[str, ...], said: str, cluster: TestCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = [cluster.address if word == "HERE" else word for word in arguments]
    result = CliRunner().invoke(main, ["fuzz", "reduce/warp_max_down", *asked])
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert "Traceback" not in result.stderr


def come_of(cluster: TestCluster, work: Work[Any, Any]) -> list[Sequence[int]]:
    """What comes of 21 errands, which are numbers."""
    errands = [errand(f"number {number}", (), CpuDevice, work, number, "cpu") for number in range(21)]
    with connect(cluster.address) as there:
        return [findings_in for _, findings_in in run_errands(there, [iter(errands)], time.monotonic() + 600)]


@pytest.mark.soak
def test_a_long_errand_leaves_no_worker_idle_and_is_reported_first(cluster: TestCluster, tmp_path: Path) -> None:
    """The first does not end before twenty others have."""

    def work(_: Device, number: int) -> list[int]:
        while number == 0 and len(list(tmp_path.iterdir())) < 20:
            time.sleep(0.01)  # files of other processes, which tell nobody of them
        (tmp_path / str(number)).touch()
        return [number]

    assert come_of(cluster, work) == [[number] for number in range(21)]


def test_a_worker_that_is_slow_to_send_delays_no_other(cluster: TestCluster, tmp_path: Path) -> None:
    """What the first has found leaves its worker only after eight others have been done: more than were given out.

    None of these ends before the first is asked for, so that Dask fetches none in one go with it.
    """

    class Late:
        def __reduce__(self) -> tuple[type[int], tuple[int]]:
            (tmp_path / "0").touch()
            until = time.monotonic() + 600
            while len(list(tmp_path.iterdir())) < 9 and time.monotonic() < until:
                time.sleep(0.01)  # files of another process, which tells nobody of them
            return int, (0 if time.monotonic() < until else -1,)

    def work(_: Device, number: int) -> list[object]:
        if number == 0:
            return [Late()]
        while not (tmp_path / "0").exists():
            time.sleep(0.01)  # a file of another process, which tells nobody of it
        (tmp_path / str(number)).touch()
        return [number]

    assert come_of(cluster, work) == [[number] for number in range(21)]


def test_an_error_is_raised_when_it_is_its_turn(cluster: TestCluster, tmp_path: Path) -> None:
    """The second fails while the first is at work."""

    def work(_: Device, number: int) -> list[int]:
        while number == 0 and not (tmp_path / "1").exists():
            time.sleep(0.01)  # a file of another process, which tells nobody of it
        (tmp_path / str(number)).touch()
        return [1 // (1 - number)]

    errands = [errand(f"number {number}", (), CpuDevice, work, number, "cpu") for number in range(2)]
    with connect(cluster.address) as there, closing(run_errands(there, [iter(errands)], None)) as come:
        assert next(come) == (0, [1])
        with pytest.raises(ZeroDivisionError):
            next(come)


def nothing(device: Device, task: object) -> list[object]:
    del device, task
    return []


def test_who_has_other_code_or_headers_does_no_errand(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    text = (KERNELS / "transpose" / "naive.cu").read_text()
    path.write_text(text.replace("__global__", '#include "part.h"\n__global__', 1))
    (tmp_path / "part.h").write_text("// as it was\n")
    work: Work[object, object] = nothing
    made = errand("mine 0-1", [load(path)], CpuDevice, work, None, "cpu")
    check_errand(made, "here")
    (tmp_path / "part.h").write_text("// as it is now\n")
    with pytest.raises(DeviceError, match=r"there: .*part.h is missing or differs there"):
        check_errand(made, "there")
    other = errand("other", [load(KERNELS / "transpose" / "naive.cu")], CpuDevice, work, None, "cpu")
    object.__setattr__(other, "version", code_version()[::-1] + "0")
    with pytest.raises(DeviceError, match="there has another version of kfuzz than this machine"):
        check_errand(other, "there")

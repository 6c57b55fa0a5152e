"""Several devices in one campaign: each finds what it finds alone, and a finding names the devices that saw it."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from our_kernels import every_kernel, our_kernel

from kfuzz.campaign.blocks import Experience, Orders, TrialEnd, run_block
from kfuzz.campaign.campaign import Lane, run_campaign, run_lanes
from kfuzz.campaign.device import jobs_worthwhile, lanes_for
from kfuzz.campaign.events import Event, Tried
from kfuzz.campaign.explain import HIDDEN, search
from kfuzz.campaign.joining import join_results
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result
from kfuzz.campaign.schedule import Block
from kfuzz.claims.kernel import load
from kfuzz.devices import Job, Outcome, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.reports.failure import occurrence_text

RIGHT, LEADING = our_kernel("softmax/online_warp"), our_kernel("broken/leading_neg_inf")
pytestmark = pytest.mark.slow


class Unchecked(CpuDevice):
    """The cpu where nobody looks at accesses: it sees answers alone, as hardware does."""

    name = "unchecked"

    def run(self, job: Job, probe: Probe) -> Outcome:
        return replace(super().run(job, replace(probe, check=False)), findings=())

    def ask(self, job: Job, probe: Probe) -> None:
        super().ask(job, replace(probe, check=False))

    def answer(self) -> Outcome:
        return replace(super().answer(), findings=())


LANES = (Lane("unchecked", Unchecked), Lane("cpu", CpuDevice))


def text_of(result: Result) -> str:
    """All that must not depend on who else is at work; as text, for NaN is not equal to itself."""
    every = [
        (one.kernel.name, replace(one.progress, seconds={}, discoveries={}), list(one.progress.discoveries.items()))
        for one in result.kernels
    ]
    return repr(every)


@pytest.mark.soak
def test_each_device_finds_what_it_finds_alone_whatever_the_jobs(tmp_path: Path) -> None:
    kernels, options = (LEADING, RIGHT), Options(seed=3, max_cases=24)
    both = run_lanes(kernels, [replace(LANES[0], jobs=2), LANES[1]], replace(options, out=tmp_path))
    assert [text_of(one) for one in both] == [
        text_of(run_campaign(kernels, lane.make_device, options)) for lane in LANES
    ]
    assert both[0].trials == both[1].trials == 24
    assert json.loads((tmp_path / "unchecked/state.json").read_text())["seed"] == 3


@pytest.mark.soak
def test_one_process_runs_two_devices_by_turns_and_finds_the_same() -> None:
    kernels, options = (LEADING, RIGHT), Options(seed=3, max_cases=12)
    turns: list[int] = []
    here = run_lanes(kernels, [replace(lane, jobs=0) for lane in LANES], options, lambda event: _note(event, turns))
    assert list(map(text_of, here)) == list(map(text_of, run_lanes(kernels, LANES, options)))
    assert turns[:6] == [0, 0, 1, 1, 0, 0]


def _note(event: Event, turns: list[int]) -> None:
    if isinstance(event, Tried):
        turns.append(event.index)


@pytest.mark.soak
def test_a_campaign_on_two_devices_goes_on_where_both_were_interrupted(tmp_path: Path) -> None:
    kernels, options = (LEADING,), Options(seed=3, max_cases=20)
    totals: list[int] = []

    def stop(event: Event) -> None:
        if isinstance(event, Tried):
            totals.append(event.total)
            if event.total == 17:
                raise KeyboardInterrupt

    parts = replace(options, out=tmp_path)
    first = join_results(run_lanes(kernels, LANES, parts, stop), ["unchecked", "cpu"])
    assert (first.stop_reason, first.trials, totals) == ("interrupted", 17, list(range(1, 18)))
    assert list(map(text_of, run_lanes(kernels, LANES, parts))) == list(
        map(text_of, run_lanes(kernels, LANES, options))
    )


@pytest.mark.soak
def test_a_finding_names_its_devices_and_the_result_of_one_try_on_the_other(tmp_path: Path) -> None:
    right = our_kernel("reduce/warp_sum_down").path.read_text(encoding="utf-8")
    path = tmp_path / "reads_beyond.cu"
    line = "const float sum = "
    path.write_text(right.replace(line, f"const volatile float beyond = x[size_t(rows) * cols];\n    {line}"))
    found = search([load(path)], LANES, Options(seed=1, max_cases=40)).news[0].headline
    assert (found.devices, found.confirmed) == (("cpu",), HIDDEN)
    _, words = occurrence_text(found.first_trial, found.count, found.devices, found.confirmed)
    assert words.endswith(", on the cpu; confirmed on the GPU: no, the hardware happens to hide it")
    both = search([LEADING], LANES, Options(seed=1, max_cases=40)).news[0].headline
    assert (set(both.devices), both.confirmed) == ({"unchecked", "cpu"}, "yes")


def test_a_campaign_of_a_few_cases_starts_no_more_processes_than_save_time() -> None:
    assert jobs_worthwhile(1, 30) == jobs_worthwhile(2, 10) == 1
    assert jobs_worthwhile(1, 480) == 10
    assert jobs_worthwhile(100, 100) == 42
    assert jobs_worthwhile(1, None) is None
    processors = len(os.sched_getaffinity(0))
    for worthwhile, jobs in ((1, 1), (1000, processors), (None, processors)):
        assert [lane.jobs for lane in lanes_for("cpu", None, worthwhile=worthwhile)] == [jobs]
    assert [lane.jobs for lane in lanes_for("cpu", 3, worthwhile=1)] == [3]


def test_the_processes_are_shared_between_the_devices_there_are() -> None:
    assert [(lane.name, lane.jobs) for lane in lanes_for("cpu", 3)] == [("cpu", 3)]
    assert sum(lane.jobs for lane in lanes_for("auto", 4)) == 4


def test_a_lane_beside_a_gpu_leaves_it_what_is_large(device: CpuDevice) -> None:
    orders = Orders((RIGHT,), 3, leaves_large=True)
    ends = list(run_block(orders, device, Block(0, 59, 62), Experience()))
    assert [end.index for end in ends if isinstance(end, TrialEnd)] == [59, 61]


@pytest.mark.gpu
def test_auto_is_the_gpu_and_the_cpu_side_by_side() -> None:
    lanes = lanes_for("auto", 8)
    assert [(lane.name, lane.jobs) for lane in lanes] == [("gpu", 4), ("cpu", 4)]
    result = search([our_kernel("broken/missing_barrier"), RIGHT], lanes, Options(seed=7, max_cases=60))
    broken, right = result.kernels
    assert not right.discoveries
    assert right.progress.trials == 60
    assert broken.news[0].headline.devices[0] == "cpu"
    assert broken.news[0].headline.confirmed in ("yes", HIDDEN)


@pytest.mark.gpu
@pytest.mark.soak
def test_auto_finds_every_exhibit_and_accuses_no_right_kernel() -> None:
    every = [kernel for kernel in every_kernel() if kernel.front.language.runner.takes_jobs_ahead]
    options = Options(seed=11, max_cases=300 * len(every))  # the first that is vast is number 265
    result = search(every, lanes_for("auto", None), options, is_part=True)
    assert result.trials >= 400 * len(every)
    accused = [one.kernel.name for one in result.kernels if one.kernel.broken is None and one.news]
    missed = [one.kernel.name for one in result.kernels if one.kernel.broken and not one.discoveries]
    assert (accused, missed) == ([], [])

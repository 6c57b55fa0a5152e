"""Campaigns: they go on after failures, lose nothing, and are the same however they are run."""

import contextlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from our_kernels import our_kernel
from paths import ROOT
from scan import write_scan

from kfuzz.campaign.blocks import BlockEnd, Experience, Orders, TrialEnd, run_block, run_blocks
from kfuzz.campaign.campaign import Lane, run_campaign, seconds_to_keep
from kfuzz.campaign.events import Event, Found, GaveUp, Tried
from kfuzz.campaign.explain import ALL_SECONDS, LEAST_SECONDS, search, time_to_explain
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result
from kfuzz.campaign.schedule import BLOCKS, LARGE, Block, attempt_of, is_check, probe_of, quotas, rounds
from kfuzz.campaign.state import STATE, seed_of_state
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases import case_file, corpus
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel, load
from kfuzz.common.time_limits import TimeLimits, limited
from kfuzz.devices import Circumstances, ClaimError, DeviceError, Finding, Job, Outcome, Probe, Run
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.verdict import Reason, Why

RIGHT = our_kernel("softmax/online_warp")
LEADING = our_kernel("broken/leading_neg_inf")
TAIL = our_kernel("broken/tail_dropped")


class Softmax:
    """A device that computes softmax itself; subclasses of it misbehave in one way each."""

    name = "told"

    def __init__(self) -> None:
        self.jobs = 0

    def run(self, job: Job, probe: Probe) -> Outcome:
        self.jobs += 1
        given = next(buffer.content for buffer in job.buffers if buffer.content is not None)
        with np.errstate(all="ignore"):
            x = given.astype(np.float64)
            e = np.exp(x - x.max(axis=-1, keepdims=True))
            y = (e / e.sum(axis=-1, keepdims=True)).astype(np.float32)
        return self.tell(job, y)

    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        return Outcome((Run(Circumstances(), {"y": y, "x": y}),))

    def close(self) -> None:
        pass


class Hangs(Softmax):
    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        hang = Outcome((), (Finding("hang", "time was up"),))
        return hang if self.jobs == 7 else super().tell(job, y)


class CannotCompile(Softmax):
    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        if job.kernel == RIGHT.name:
            raise ClaimError(f"{job.path}:9: expected ';'")
        return super().tell(job, y)


class Breaks(Softmax):
    """Wrong in a different way each time."""

    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        return Outcome((), (Finding("trap", "a trap", line=self.jobs),))


class Races(Softmax):
    """Reports a race: an error in a row of 3 columns or more, only a warning in a shorter one."""

    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        race = Finding("race", "two writes", "error" if y.shape[-1] > 2 else "warning", line=3)
        return Outcome((Run(Circumstances(), {"y": y, "x": y}),), (race,))


class Doubles(Softmax):
    """Wrong for rows of 3, 6, 9 ... columns."""

    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        return super().tell(job, y if y.shape[-1] % 3 else y * np.float32(2))


class Asked(Softmax):
    """Can be asked ahead; notes how many trials it still has as it answers each, and hangs where it is told to.

    `beside`: the jobs that it ran without being asked ahead; `twins`: how many it was asked for.
    """

    def __init__(self, hangs: int = 0, breaks: int = 0) -> None:
        super().__init__()
        self.waiting: deque[tuple[Job, Probe]] = deque()
        self.left: list[tuple[str, int]] = []
        self.twins, self.beside = 0, 0
        self._hangs, self._breaks = hangs, breaks

    def ask(self, job: Job, probe: Probe) -> None:
        self.twins += probe.runs == 1
        self.waiting.append((job, probe))

    def answer(self) -> Outcome:
        job, probe = self.waiting.popleft()
        if probe.runs == 1:
            return super().run(job, probe)
        self.left.append((job.kernel, sum(probe.runs > 1 for _, probe in self.waiting)))
        if len(self.left) == self._hangs:
            return Outcome((), (Finding("hang", "time was up"),))
        if len(self.left) == self._breaks:
            return Outcome((), (Finding("trap", "a trap"),), ended=True)
        return super().run(job, probe)

    def run(self, job: Job, probe: Probe) -> Outcome:
        self.beside += 1
        return super().run(job, probe)

    def forget(self) -> None:
        self.waiting.clear()


class Missing(Softmax):
    def __init__(self) -> None:
        raise DeviceError("no such device here")


class IsKilled(Softmax):
    """The system kills its process when it runs one of the kernels."""

    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        if job.kernel == "scan":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().tell(job, y)


class Dies(Softmax):
    def tell(self, job: Job, y: np.ndarray) -> Outcome:
        os._exit(7)


@pytest.fixture
def scan(tmp_path: Path) -> Kernel:
    return write_scan(tmp_path)


def text_of(result: Result) -> str:
    """All that a campaign found, as text, but for what depends on time and place."""
    lines = [result.stop_reason]
    for one in result.kernels:
        progress = replace(one.progress, seconds={}, discoveries={})
        found = [replace(d, path=d.path and Path(d.path.name)) for d in one.discoveries]
        lines += [one.kernel.name, repr(replace(progress, reasons=set())), *sorted(progress.reasons), *map(repr, found)]
    return "\n".join(lines)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_right_kernel_has_no_finding() -> None:
    result = run_campaign([RIGHT], CpuDevice, Options(seed=1, max_cases=60))
    assert (result.trials, result.stop_reason, result.news) == (60, "max-cases", ())
    assert 0 < result.kernels[0].progress.worst_ratio <= 1
    assert result.rows > 60


def test_the_case_of_a_wrong_kernel_is_on_disk_before_it_is_reported(tmp_path: Path) -> None:
    seen = []

    def listen(event: Event) -> None:
        if isinstance(event, Found):
            assert event.discovery.path is not None
            record = case_file.read(event.discovery.path)
            assert record.origin is not None
            seen.append(record.origin.bucket)

    result = run_campaign([LEADING, RIGHT], CpuDevice, Options(seed=1, max_cases=120, corpus=tmp_path), listen)
    errors = [one for bug in result.news for one in bug.every if one.is_error]
    assert sorted(seen) == sorted(one.defect.bucket for one in errors)
    assert "special" in {one.defect.kind for one in errors}
    assert {one.defect.bucket.partition(":")[0] for one in errors} == {LEADING.name}
    assert result.trials == 120


@pytest.mark.slow
def test_a_campaign_may_stop_at_its_first_finding() -> None:
    options = Options(seed=1, max_cases=60, stop_at_first=True)
    result = run_campaign([LEADING], CpuDevice, options)
    assert (result.stop_reason, len(result.news), result.trials < 60) == ("first-finding", 1, True)
    known = frozenset(one.defect.bucket for one in run_campaign([LEADING], CpuDevice, Options(seed=1, max_cases=60))
                      .kernels[0].discoveries)  # fmt: skip
    again = run_campaign([LEADING], CpuDevice, replace(options, known=known))
    assert (again.stop_reason, again.trials) == ("max-cases", 60)


@pytest.mark.slow
def test_a_case_that_was_kept_breaks_the_kernel_again(tmp_path: Path, device: CpuDevice) -> None:
    run_campaign([LEADING], CpuDevice, Options(seed=1, max_cases=60, corpus=tmp_path))
    (entry,) = (
        e for e in corpus.entries([tmp_path]) if e.record and e.record.origin and e.record.origin.kind == "special"
    )
    record = entry.record
    assert record is not None
    assert record.origin is not None
    probe = Probe(record.origin.check, record.origin.runs, record.origin.seed)
    trial = run_trial(LEADING, record.case, record.origin.tune, device, probe)
    assert record.origin.bucket in {defect.bucket for defect in trial.defects}


@pytest.mark.slow
def test_two_jobs_give_the_same_result_to_the_byte(tmp_path: Path) -> None:
    kernels = [LEADING, RIGHT, TAIL]
    options = Options(seed=3, max_cases=36)
    one = run_campaign(kernels, CpuDevice, replace(options, corpus=tmp_path / "one"))
    two = run_campaign(kernels, CpuDevice, replace(options, corpus=tmp_path / "two", jobs=2))
    assert text_of(one) == text_of(two)
    assert files(tmp_path / "one") == files(tmp_path / "two") != {}


def test_another_seed_gives_another_campaign() -> None:
    one, two = (run_campaign([RIGHT], Softmax, Options(seed=seed, max_cases=40)) for seed in (1, 2))
    assert text_of(one) != text_of(two)


@pytest.mark.soak
def test_events_come_in_the_same_order_with_any_number_of_jobs() -> None:
    def events(jobs: int) -> list[tuple[str, int, int]]:
        seen: list[tuple[str, int, int]] = []

        def listen(event: Event) -> None:
            if isinstance(event, Tried):
                seen.append((event.kernel, event.index, event.total))

        run_campaign([LEADING, RIGHT, TAIL], Softmax, Options(max_cases=90, jobs=jobs), listen)
        return seen

    assert events(1) == events(2) == events(3)


@pytest.mark.slow
def test_an_interrupted_campaign_resumes_to_the_same_result(tmp_path: Path, scan: Kernel) -> None:
    kernels = [RIGHT, scan, LEADING]
    options = Options(seed=5, max_cases=70)
    whole = run_campaign(kernels, Doubles, replace(options, corpus=tmp_path / "whole"))
    assert sum(len(bug.every) for bug in whole.news) > 2
    parts = replace(options, corpus=tmp_path / "parts", out=tmp_path / "out")
    for limit in (1, 13, 14, 40):

        def stop(event: Event, limit: int = limit) -> None:
            if isinstance(event, Tried) and event.total >= limit:
                raise KeyboardInterrupt

        result = run_campaign(kernels, Doubles, parts, stop)
        assert (result.stop_reason, result.trials) == ("interrupted", limit)
    assert text_of(run_campaign(kernels, Doubles, parts)) == text_of(whole)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


@pytest.mark.soak
@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_two_jobs_returns_what_was_found(tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, Found):
            raise KeyboardInterrupt

    result = run_campaign([LEADING, TAIL], CpuDevice, Options(max_cases=500, jobs=2, corpus=tmp_path), stop)
    assert result.stop_reason == "interrupted"
    assert len(result.news) == 1
    assert result.news[0].headline.path is not None
    assert result.news[0].headline.path.exists()


def test_a_campaign_of_another_seed_is_not_resumed(tmp_path: Path, scan: Kernel) -> None:
    run_campaign([scan], Softmax, Options(seed=1, max_cases=3, out=tmp_path))
    with pytest.raises(CaseError, match="seed: 1, and this campaign has 2; give that seed or another folder"):
        run_campaign([scan], Softmax, Options(seed=2, max_cases=3, out=tmp_path))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[:40], "not JSON"),
        (lambda _: "[]", "remove this file, or give another --out"),
        (lambda _: '{"schema": "kfuzz-campaign/7", "seed": 0, "shard": "1/1", "kernels": 3}', "kernels: an object"),
        (lambda text: text.replace("kfuzz-campaign/7", "kfuzz-campaign/9"), "schema: 'kfuzz-campaign/9'"),
        (lambda text: text.replace('"next"', '"after"'), "'next': not the state of a campaign"),
    ],
)
def test_a_damaged_state_is_one_clear_line(damage, words: str, tmp_path: Path, scan: Kernel) -> None:  # noqa: ANN001  a lambda
    run_campaign([scan], Softmax, Options(max_cases=3, out=tmp_path))
    (tmp_path / STATE).write_text(damage((tmp_path / STATE).read_text()))
    with pytest.raises(CaseError) as error:
        run_campaign([scan], Softmax, Options(max_cases=3, out=tmp_path))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seed": "x"}', '{"seed": -1}'])
def test_the_seed_of_a_damaged_state_is_one_line_that_says_what_to_do(text: str, tmp_path: Path) -> None:
    (tmp_path / STATE).write_text(text)
    with pytest.raises(CaseError, match="remove this file, or give another --out") as error:
        seed_of_state(tmp_path)
    assert "\n" not in str(error.value)


def test_a_smaller_case_that_is_only_a_warning_does_not_take_an_errors_place(scan: Kernel) -> None:
    result = run_campaign([scan], Races, Options(seed=1, max_cases=60)).kernels[0]
    (found,) = result.discoveries
    assert (found.defect.kind, found.defect.severity) == ("race", "error")
    assert found.defect.scene.axes["cols"] > 2
    seen = {one.defect.severity: one.count for one in result.progress.discoveries.values()}
    assert seen["error"] > 1
    assert seen.get("warning", 0) < 3  # what is known to be an error is no news as a warning


def test_a_kernel_whose_text_has_changed_starts_again(tmp_path: Path, scan: Kernel) -> None:
    options = Options(max_cases=20, out=tmp_path / "out")
    first = run_campaign([scan], Breaks, options)
    assert len(first.news) > 0
    scan.path.write_text(scan.path.read_text() + "// fixed\n")
    second = run_campaign([load(scan.path)], Softmax, options)
    assert second.news == ()
    assert second.trials == 20


@pytest.mark.soak
@pytest.mark.slow
def test_what_a_baseline_knows_is_no_news(tmp_path: Path) -> None:
    options = Options(seed=1, max_cases=60)
    bucket = run_campaign([LEADING], CpuDevice, options).news[0].headline.defect.bucket
    again = run_campaign([LEADING], CpuDevice, replace(options, known=frozenset([bucket]), corpus=tmp_path))
    assert bucket not in {one.defect.bucket for bug in again.news for one in bug.every}
    assert any(discovery.is_known for discovery in again.kernels[0].discoveries)
    assert all(e.record and e.record.origin and e.record.origin.bucket != bucket for e in corpus.entries([tmp_path]))


def test_a_kernel_that_hangs_is_given_up_and_the_others_go_on(scan: Kernel) -> None:
    events: list[Event] = []
    result = run_campaign([scan, RIGHT], Hangs, Options(max_cases=80), events.append)
    given_up = [event.kernel for event in events if isinstance(event, GaveUp)]
    assert len(given_up) == 1
    hung, other = sorted(result.kernels, key=lambda one: one.progress.trials)
    assert hung.kernel.name == given_up[0]
    assert [discovery.defect.kind for discovery in hung.discoveries] == ["hang"]
    assert other.progress.trials == 40
    assert result.stop_reason == "no kernel can go on"


def test_a_device_is_asked_beyond_the_end_of_a_block_but_not_past_the_first_trial_of_a_kernel(scan: Kernel) -> None:
    device, blocks = Asked(), [Block(0, 0, 6), Block(1, 0, 6), Block(0, 6, 12)]
    ends = list(run_blocks(Orders((scan, RIGHT), 1), device, iter(blocks), Experience()))
    assert [end.index for end in ends if isinstance(end, TrialEnd)] == [*range(6), *range(6), *range(6, 12)]
    assert [end.block for end in ends if isinstance(end, BlockEnd)] == blocks
    left = [count for _, count in device.left]
    assert left[0] == left[6] == 0  # the first of each kernel: whether it runs at all
    assert left[5] == 1  # and yet it is asked for before the last of the other has ended
    assert min(left[7:-3]) > 1


def test_a_kernel_that_is_given_up_takes_no_other_trials_with_it(scan: Kernel) -> None:
    device, blocks = Asked(hangs=14), [Block(0, 0, 6), Block(1, 0, 6), Block(0, 6, 9), Block(1, 6, 9)]
    ends = list(run_blocks(Orders((scan, RIGHT), 1), device, iter(blocks), Experience()))
    tried = [(end.kernel, end.index) for end in ends if isinstance(end, TrialEnd)]
    assert tried == [
        *((0, i) for i in range(6)),
        *((1, i) for i in range(6)),
        (0, 6),
        (0, 7),
        *((1, i) for i in (6, 7, 8)),
    ]
    assert [(end.block, end.why) for end in ends if isinstance(end, BlockEnd)] == [
        (blocks[0], ""), (blocks[1], ""), (blocks[2], "hang"), (blocks[3], ""),
    ]  # fmt: skip
    assert ("softmax/online_warp", 2) in device.left[-3:]  # asked again


def test_the_twins_of_a_trial_are_asked_for_together_with_it() -> None:
    blocks, orders = [Block(0, 0, 32)], Orders((RIGHT,), 1)
    ahead, later = Asked(), Asked()
    ends = list(run_blocks(orders, ahead, iter(blocks), Experience()))
    accused = list(run_blocks(orders, later, iter(blocks), Experience(accused={0})))
    assert (ahead.twins, ahead.beside) == (later.beside, 0)
    assert later.twins == 0
    assert ahead.twins > 3
    looks = [[one.looks for one in every if isinstance(one, TrialEnd)] for every in (ends, accused)]
    assert looks[0] == looks[1]
    assert sum(one.get("batch_invariant", False) for one in looks[0]) > 3


def test_a_trial_that_ends_its_process_takes_its_twins_with_it_and_no_other_trial() -> None:
    device = Asked(breaks=8)
    ends = list(run_blocks(Orders((RIGHT,), 1), device, iter([Block(0, 0, 24)]), Experience()))
    assert [end.index for end in ends if isinstance(end, TrialEnd)] == list(range(24))
    assert [end.index for end in ends if isinstance(end, TrialEnd) and end.fatal] == [7]
    assert not device.waiting


def test_a_hang_that_may_be_a_lack_of_time_is_not_reported(scan: Kernel) -> None:
    def last(left: float) -> tuple[int, BlockEnd]:
        orders = Orders((scan,), 1, deadline=time.monotonic() + left)
        items = list(run_block(orders, Hangs(), Block(0, 0, 20), Experience()))
        assert isinstance(items[-1], BlockEnd)
        return sum(bool(item.defects) for item in items if isinstance(item, TrialEnd)), items[-1]

    assert last(left=6.0) == (0, BlockEnd(Block(0, 0, 20), "time"))
    assert last(left=60.0)[0] == 1
    assert last(left=60.0)[1].why == "hang"


def test_a_large_case_is_not_begun_when_time_is_nearly_up(scan: Kernel) -> None:
    def indices(left: float) -> list[int]:
        orders = Orders((scan,), 1, deadline=time.monotonic() + left)
        return [
            item.index
            for item in run_block(orders, Softmax(), Block(0, 59, 62), Experience())
            if isinstance(item, TrialEnd)
        ]

    assert 60 in LARGE
    assert indices(left=60.0) == [59, 60, 61]
    assert indices(left=6.0) == [59, 61]


@pytest.mark.slow
def test_what_a_silent_claim_could_say_is_what_held_in_every_trial(scan: Kernel) -> None:
    progress = run_campaign([scan], Softmax, Options(max_cases=400)).kernels[0].progress
    assert "row" in progress.silences["nan"]
    assert str(Reason(Why.NAN)) in progress.reasons


def test_a_kernel_that_does_not_compile_is_an_error_and_the_others_go_on(scan: Kernel) -> None:
    result = run_campaign([RIGHT, scan], CannotCompile, Options(max_cases=20))
    wrong, right = result.kernels
    assert wrong.progress.error.endswith("expected ';'")
    assert (wrong.progress.trials, right.progress.trials) == (0, 10)
    assert result.news == ()


def test_a_kernel_with_endless_errors_is_given_up(scan: Kernel) -> None:
    result = run_campaign([scan], Breaks, Options(max_cases=1000))
    assert len(result.news) == 16
    assert result.trials == 16
    assert "16 different errors" in result.kernels[0].progress.retired


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_a_device_that_is_missing_ends_the_campaign(jobs: int, scan: Kernel) -> None:
    with pytest.raises(DeviceError, match="no such device here"):
        run_campaign([scan], Missing, Options(max_cases=5, jobs=jobs))


@pytest.mark.soak
@pytest.mark.slow
def test_a_process_that_dies_ends_the_campaign_in_one_line(scan: Kernel, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="a worker process ended with exit code 7"):
        run_campaign([scan], Dies, Options(max_cases=5, jobs=2, out=tmp_path))
    assert (tmp_path / STATE).exists()


@pytest.mark.slow(3)
def test_a_process_that_is_killed_costs_its_kernel_alone(scan: Kernel) -> None:
    """The killer of a machine without memory ended the whole campaign, and no report was written."""
    killed, right = run_campaign([scan, RIGHT], IsKilled, Options(max_cases=40, jobs=2)).kernels
    assert killed.progress.error == (
        f"{scan.path}: the system killed a process of kfuzz, most likely for want of memory, while it was tried; "
        "this kernel is not tried further"
    )
    assert (killed.could_not, right.could_not, right.progress.trials) == (True, False, 20)


@pytest.mark.slow
def test_an_error_that_ends_a_campaign_keeps_its_results(scan: Kernel) -> None:
    kept: list[Result] = []
    with pytest.raises(DeviceError, match="no such device here"):
        search([scan], [Lane("", Missing)], Options(max_cases=5), keep=kept.append)
    assert [one.stop_reason for one in kept] == ["interrupted"]


def test_what_is_found_is_kept_before_it_is_explained_and_time_ends_both(scan: Kernel) -> None:
    """Two extensions had a finding after 46 s, and no verdict after 90 s."""
    kept: list[Result] = []
    result = search([scan], [Lane("", Doubles)], Options(max_cases=12), keep=kept.append)
    assert [bug.headline.defect.bucket for bug in kept[0].news] == [bug.headline.defect.bucket for bug in result.news]
    assert kept[0].trials == 12
    assert kept[0].news
    keeps = [seconds_to_keep(Options(max_time=seconds), has_news=True) for seconds in (8.0, 60.0, 600.0)]
    assert keeps == [2.0, 15.0, 15.0]
    assert seconds_to_keep(Options(max_time=8.0), has_news=False) == 0.0
    left = [time_to_explain(replace(kept[0], seconds=used), Options(max_time=60.0)) for used in (45.0, 50.0, 61.0)]
    assert left == [15.0, 10.0, LEAST_SECONDS]
    assert time_to_explain(kept[0], Options(max_cases=5)) == ALL_SECONDS


@pytest.mark.slow
def test_time_ends_a_campaign(scan: Kernel) -> None:
    for jobs in (1, 2):
        result = run_campaign([scan, RIGHT], Softmax, Options(max_time=0.5, jobs=jobs))
        assert (result.stop_reason, result.seconds >= 0.5) == ("max-time", True)


def test_a_process_tries_its_first_kernel_until_the_last_trial_has_to_end() -> None:
    """To import torch took the ten seconds of a command: the kernel was not tried at all."""
    orders = Orders((RIGHT, TAIL), 0, deadline=time.monotonic() - 1.0)
    for left, trials in ((60.0, 1), (0.0, 0), (math.inf, 0)):  # without a limit of the command none is begun late
        with limited(TimeLimits(until=time.monotonic() + left)):
            known = Experience()
            ends = [one for kernel in (0, 1) for one in run_block(orders, Softmax(), Block(kernel, 0, 3), known)]
            assert [type(one) for one in ends] == [TrialEnd] * trials + [BlockEnd] * 2


def test_a_folder_that_cannot_be_written_is_one_clear_line(scan: Kernel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CaseError, match=r"file/out: cannot be written: Not a directory"):
        run_campaign([scan], Softmax, Options(max_cases=5, out=tmp_path / "file" / "out"))
    with pytest.raises(CaseError, match="the case is not kept"):
        run_campaign([scan], Breaks, Options(max_cases=5, corpus=tmp_path / "file"))


def test_a_finding_is_reported_if_the_state_cannot_be_written(scan: Kernel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    was_reported: list[Event] = []
    options = Options(max_cases=5, corpus=tmp_path / "corpus", out=tmp_path / "file" / "out")
    with pytest.raises(CaseError, match=r"file/out: cannot be written"):
        run_campaign([scan], Breaks, options, was_reported.append)
    (found,) = was_reported
    assert isinstance(found, Found)
    assert found.discovery.path is not None
    assert found.discovery.path.is_file()


CHILD = """
import sys
from pathlib import Path
from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.events import Found
from kfuzz.campaign.options import Options
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.claims.kernel import KERNELS, load

def listen(event):
    if isinstance(event, Found) and event.discovery.path:
        print(event.discovery.defect.bucket, flush=True)

if __name__ == "__main__":
    names = ("leading_neg_inf", "tail_dropped", "max_starts_at_zero")
    kernels = [load(KERNELS / "broken" / f"{name}.cu") for name in names]
    print("begun", flush=True)
    folder = Path(sys.argv[1])
    out, jobs, max_cases = folder / sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    options = Options(seed=2, max_cases=max_cases, corpus=folder / "corpus", out=out, jobs=jobs)
    run_campaign(kernels, CpuDevice, options, listen)
    print("ended", flush=True)
"""


def child(script: Path, folder: Path, out: str = "out", jobs: int = 1, cases: int = 120) -> subprocess.Popen[str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(script), str(folder), out, str(jobs), str(cases)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def finished(script: Path, folder: Path, cases: int) -> list[str]:
    """The lines of a campaign that is left alone."""
    with child(script, folder, cases=cases) as process:
        return process.communicate()[0].splitlines()


def killed_campaigns(folder: Path, kills: int, seed: int, cases: int = 120) -> None:
    """Kill a campaign again and again, at random moments after it began; all that it told is there each time."""
    script = folder / "child.py"
    script.write_text(CHILD)
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    reported: set[str] = set()
    for _ in range(kills):
        with child(script, folder, cases=cases) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.0, 1.5))
            process.send_signal(signal.SIGKILL)
            reported |= set(process.stdout.read().split("\n")) - {"", "ended"}
        every = list(corpus.entries([folder / "corpus"])) if (folder / "corpus").exists() else []
        assert [entry.error for entry in every if entry.error] == []
        assert reported <= {e.record.origin.bucket for e in every if e.record and e.record.origin}
        if (folder / "out" / STATE).exists():
            json.loads((folder / "out" / STATE).read_text())
    assert finished(script, folder, cases)[-1] == "ended"
    finished(script, folder / "undisturbed", cases)
    found = corpus.entries([folder / "corpus"]), corpus.entries([folder / "undisturbed" / "corpus"])
    one, two = ({e.record.origin.bucket for e in entries if e.record and e.record.origin} for entries in found)
    assert one == two


@pytest.mark.slow
def test_a_killed_campaign_loses_nothing_that_it_reported(tmp_path: Path) -> None:
    (tmp_path / "undisturbed").mkdir()
    killed_campaigns(tmp_path, 1, seed=1, cases=30)


@pytest.mark.soak
def test_two_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "undisturbed").mkdir()
    killed_campaigns(tmp_path, 200, seed=2)


@pytest.mark.soak
def test_two_campaigns_into_one_corpus_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    with child(script, tmp_path, "a") as one, child(script, tmp_path, "b") as two:
        was_reported = [set(process.communicate()[0].splitlines()) - {"begun", "ended"} for process in (one, two)]
    buckets = [e.record.origin.bucket for e in corpus.entries([tmp_path / "corpus"]) if e.record and e.record.origin]
    assert sorted(buckets) == sorted(was_reported[0] | was_reported[1])


def test_quotas_differ_by_one_at_most() -> None:
    assert quotas(3, 10) == [4, 3, 3]
    assert quotas(3, 2) == [1, 1, 0]
    assert quotas(2, None) == [None, None]


def test_rounds_give_every_kernel_what_is_its_due() -> None:
    blocks = [block for blocks in rounds(quotas(3, 200)) for block in blocks]
    for place, quota in enumerate(quotas(3, 200)):
        mine = [index for b in blocks if b.kernel == place for index in range(b.first, b.last)]
        assert mine == list(range(quota or 0))
    assert [block.kernel for block in blocks[:3]] == [0, 1, 2]
    assert blocks[0] == Block(0, 0, BLOCKS[0])


def test_trials_start_small_and_are_checked_early() -> None:
    sizes = [attempt_of(RIGHT, 1, index).case.elements for index in range(40)]
    assert max(sizes[:4]) <= 128
    assert max(sizes) > 1000
    assert sum(map(is_check, range(300))) == 5 + 50 - 3  # which are rungs of the ladder of sizes
    assert [is_check(index) for index in range(8)] == [*[True] * 6, False, True]
    assert [LARGE[index] for index in filter(is_check, LARGE)] == ["turns"]


def test_probes_differ_from_trial_to_trial() -> None:
    assert len({probe_of(RIGHT, 1, index, 3, 5.0).seed for index in range(200)}) == 200

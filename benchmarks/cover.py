"""A small corpus from a score: cases, each minimized, that together kill every mutant again which an error killed.

    python -m benchmarks.cover --score DIR --into FOLDER

Greedy: the trial that killed most of the mutants that are left is minimized on one of them, and all that the small
case kills, in whatever kernel of its op, are left no more. What kills is a replay of the case as a plain pytest does
it, so that whoever brings one of these bugs back is told by the plain tests.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from fuzz import corpus
from fuzz.case import Origin, Record
from fuzz.cases.case_reader import MAX_LITERAL
from fuzz.devices import Device
from fuzz.devices.cpu import CpuDevice
from fuzz.kernel import Kernel, discover
from fuzz.minimize import Failure, minimize, pointed, record_of
from fuzz.mutate import Mutant, as_kernel, mutants
from fuzz.replay import launches
from fuzz.scoring.run import scores_in
from fuzz.scoring.trials import RUNS, TIMEOUT, Options, Score
from fuzz.search.schedule import attempt_of, probe_of
from fuzz.subject import subject_of
from fuzz.trial import run_trial, unfit

SECONDS, MOST_RUNS = 6.0, 400
"""For each case that is minimized."""
KERNELS_AT_A_TIME = 4


@dataclass(frozen=True)
class Dead:
    """A mutant that an error killed, as a kernel, and its score."""

    kernel: Kernel
    original: Kernel
    score: Score


@dataclass(frozen=True)
class Cover:
    """The cases that were chosen for an op, how many mutants they kill, and what no case kills again."""

    op: str
    records: tuple[Record, ...]
    killed: int
    left: tuple[str, ...]
    seconds: float


def cover(op: str, dead: list[Dead], options: Options) -> Cover:
    """Choose cases until every mutant is killed by one of them, or has had its turn."""
    began, records, lost, total = time.monotonic(), [], list[str](), len(dead)
    with CpuDevice() as device:
        while dead:
            turn = Counter((one.original.name, one.score.trials) for one in dead).most_common(1)[0][0]
            chosen = next(one for one in dead if (one.original.name, one.score.trials) == turn)
            record = next((one for one in _records(chosen, device, options) if kills(one, chosen.kernel, device)), None)
            if record is None:
                lost.append(f"{chosen.score.kernel}:{chosen.score.line}: {chosen.score.operator}")
                dead = [one for one in dead if one is not chosen]
                continue
            records.append(record)
            dead = [one for one in dead if one is not chosen and not kills(record, one.kernel, device)]
    return Cover(op, tuple(records), total - len(lost), tuple(lost), time.monotonic() - began)


def _records(dead: Dead, device: Device, options: Options) -> list[Record]:
    """The case that killed a mutant: as small as it gets, and as it was where it is small enough to be kept."""
    index = dead.score.trials - 1
    attempt = attempt_of(dead.original, options.seed, index)
    probe = probe_of(dead.original, options.seed, index, RUNS, TIMEOUT)
    subject = subject_of(dead.kernel, attempt.case, attempt.tune, probe.check, probe.seed)
    trial = run_trial(dead.kernel, attempt.case, attempt.tune, device, probe)
    found = []
    for defect in trial.errors[:1]:
        failure = Failure(pointed(subject, defect), defect, probe.runs)
        small = minimize(failure, device, MOST_RUNS, SECONDS)
        found.append(_named(record_of(small, device.name), dead.score))
        told = (dead.original.name, defect.bucket, defect.kind, defect.message, device.name)
        origin = Origin(*told, dict(attempt.tune), probe.check, probe.runs, probe.seed)
        if attempt.case.recipes or attempt.case.elements <= MAX_LITERAL:
            found.append(_named(Record(attempt.case, origin), dead.score))
    return found


def _named(record: Record, score: Score) -> Record:
    """The record under a bucket of its own: several mutants of a kernel may look alike and need different cases."""
    assert record.origin is not None
    bucket = f"{record.origin.bucket}, mutant {score.operator} {score.key[:6]}"
    return replace(record, origin=replace(record.origin, bucket=bucket))


def kills(record: Record, kernel: Kernel, device: Device) -> bool:
    """Whether a replay of the case finds an error in the kernel."""
    assert record.origin is not None
    if unfit(kernel, record.case):
        return False
    for tune, probes in launches(record, kernel, 1, TIMEOUT):
        for probe in probes:
            alike = probe.check == record.origin.check
            if alike and run_trial(kernel, record.case, tune, device, probe).errors:
                return True
    return False


def _parts(dead: list[Dead]) -> list[list[Dead]]:
    """The mutants of a few kernels at a time: work for several processes."""
    names = sorted({one.original.name for one in dead})
    groups = [names[at : at + KERNELS_AT_A_TIME] for at in range(0, len(names), KERNELS_AT_A_TIME)]
    return [[one for one in dead if one.original.name in group] for group in groups]


def main() -> None:
    """Cover every op, save the cases, say how many they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--score", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    options, scores = scores_in(asked.score)
    kernels = {kernel.name: kernel for kernel in discover() if kernel.broken is None}
    every: Mapping[str, Mutant] = {one.key: one for kernel in kernels.values() for one in mutants(kernel)}
    by_op: dict[str, list[Dead]] = {}
    for score in scores:
        if score.status == "killed" and score.key in every:
            original = kernels[score.kernel]
            by_op.setdefault(original.op, []).append(Dead(as_kernel(every[score.key], original), original, score))
    work = [(op, part) for op, dead in by_op.items() for part in _parts(dead)]
    work.sort(key=lambda pair: -len(pair[1]))
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for done in pool.map(cover, *zip(*work, strict=True), [options] * len(work)):
            for record in done.records:
                corpus.save(asked.into, record)
            print(f"{done.op}: {len(done.records)} cases kill {done.killed} mutants, {done.seconds:.0f} s", flush=True)
            for line in done.left:
                print(f"  killed by no case again: {line}")


if __name__ == "__main__":
    main()

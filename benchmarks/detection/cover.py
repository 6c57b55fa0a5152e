"""Build a small corpus from a score: minimized cases that together kill every mutant that an error killed.

    python -m benchmarks.detection.cover --score DIR --build FOLDER     add cases for the mutants that survive it
    python -m benchmarks.detection.cover --score DIR --measure FOLDER   count what its cases kill, and how fast

It is greedy, for a few kernels at a time: it minimizes the trial that killed most of the remaining mutants on one of
them, and drops all mutants that the small case kills, in any kernel of its op. Then it removes every case whose mutants
the others kill too. A kill is a replay of the case as a plain pytest does it, so the plain tests report these bugs if
they come back.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from kfuzz.campaign.minimizing.minimize import Failure, minimize, point_at_worst, record_of
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.replay import LARGE, replay
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases import corpus
from kfuzz.cases.case import Origin, Record
from kfuzz.cases.case_reader import MAX_LITERAL
from kfuzz.claims.kernel import Kernel, discover
from kfuzz.devices import Device
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.mutants.mutate import as_kernel, mutants
from kfuzz.measure.mutants.redundant_cases import is_killed_by
from kfuzz.measure.mutants.run import scores_in
from kfuzz.measure.mutants.trials import RUNS, TIMEOUT, Score, ScoreOptions

SECONDS, MOST_RUNS = 30.0, 2000
"""The budget for each case that is minimized."""
KERNELS_AT_A_TIME, MEASURED_AT_A_TIME = 4, 16


@dataclass(frozen=True)
class Dead:
    """A mutant that an error killed, as a kernel, and its score."""

    kernel: Kernel
    original: Kernel
    score: Score

    def __str__(self) -> str:
        return f"{self.score.kernel}:{self.score.line}: {self.score.operator}"


Choice = tuple[Record, tuple[Dead, ...]]
"""A case, and the mutants that it was chosen for."""


@dataclass(frozen=True)
class Cover:
    """The cases chosen for an op, how many mutants they kill, and the mutants that no case kills again."""

    op: str
    chosen: tuple[Choice, ...]
    left: tuple[str, ...]
    seconds: float

    @property
    def killed(self) -> int:
        return sum(len(struck) for _, struck in self.chosen)


def cover(op: str, dead: list[Dead], options: ScoreOptions) -> Cover:
    """Choose cases until every mutant is killed by one of them, or has had its turn."""
    began = time.monotonic()
    lost: list[str] = []
    chosen: list[Choice] = []
    with CpuDevice() as device:
        while dead:
            turn = Counter((one.original.name, one.score.trials) for one in dead).most_common(1)[0][0]
            first = next(one for one in dead if (one.original.name, one.score.trials) == turn)
            record = next(
                (one for one in _records(first, device, options) if is_killed_by(one, first.kernel, device)), None
            )
            if record is None:
                lost.append(str(first))
                dead = [one for one in dead if one is not first]
                continue
            struck = tuple(one for one in dead if one is first or is_killed_by(record, one.kernel, device))
            chosen.append((record, struck))
            dead = [one for one in dead if one not in struck]
    return Cover(op, tuple(chosen), tuple(lost), time.monotonic() - began)


def thin(chosen: Sequence[Choice]) -> tuple[Record, ...]:
    """The remaining cases of an op."""
    with CpuDevice() as device:
        return thinned(chosen, lambda record, one: is_killed_by(record, one.kernel, device))


def thinned(chosen: Sequence[Choice], is_killed: Callable[[Record, Dead], bool]) -> tuple[Record, ...]:
    """The cases without those whose mutants the others kill too; those chosen for the fewest mutants go first."""
    kept = dict(enumerate(chosen))
    for place in sorted(kept, key=lambda at: (len(kept[at][1]), -chosen[at][0].case.elements)):
        _, struck = kept.pop(place)
        moved: dict[int, list[Dead]] = {}
        for one in struck:
            other = next((at for at, (record, _) in kept.items() if is_killed(record, one)), None)
            if other is None:
                kept[place] = chosen[place][0], struck
                break
            moved.setdefault(other, []).append(one)
        else:
            for at, more in moved.items():
                kept[at] = kept[at][0], (*kept[at][1], *more)
    return tuple(kept[at][0] for at in sorted(kept))


def _records(dead: Dead, device: Device, options: ScoreOptions) -> list[Record]:
    """The case that killed a mutant: minimized, and also unchanged if it is small enough to keep."""
    index = dead.score.trials - 1
    attempt = attempt_of(dead.original, options.seed, index)
    probe = probe_of(dead.original, options.seed, index, RUNS, TIMEOUT)
    subject = subject_of(dead.kernel, attempt.case, attempt.tune, probe.check, probe.seed)
    trial = run_trial(dead.kernel, attempt.case, attempt.tune, device, probe)
    found = []
    for defect in trial.errors[:1]:
        failure = Failure(point_at_worst(subject, defect), defect, probe.runs)
        small = minimize(failure, device, MOST_RUNS, SECONDS)
        found.append(_with_own_bucket(record_of(small, device.name), dead.score))
        told = (dead.original.name, defect.bucket, defect.kind, defect.message, device.name)
        origin = Origin(*told, dict(attempt.tune), probe.check, probe.runs, probe.seed)
        if attempt.case.recipes or attempt.case.elements <= MAX_LITERAL:
            found.append(_with_own_bucket(Record(attempt.case, origin), dead.score))
    return found


def _with_own_bucket(record: Record, score: Score) -> Record:
    """The record in a bucket of its own: several mutants of a kernel may look alike and need different cases."""
    assert record.origin is not None
    bucket = f"{record.origin.bucket}, mutant {score.operator} {score.key[:6]}"
    return replace(record, origin=replace(record.origin, bucket=bucket))


def measure(dead: Sequence[Dead], records: Sequence[Record]) -> list[Dead]:
    """The mutants that no record kills."""
    with CpuDevice() as device:
        return [
            one for one in dead if not any(is_killed_by(record, one.kernel, device) for record in _near(one, records))
        ]


def left_by(folder: Path, dead: Sequence[Dead], pool: ProcessPoolExecutor) -> list[Dead]:
    """The mutants that no case in the folder kills."""
    records = records_in(folder)
    some = [dead[at : at + MEASURED_AT_A_TIME] for at in range(0, len(dead), MEASURED_AT_A_TIME)]
    return [one for left in pool.map(partial(measure, records=records), some) for one in left]


def records_in(folder: Path) -> list[Record]:
    """Every case of a folder, if it exists."""
    return [entry.record for entry in corpus.entries([folder]) if entry.record] if folder.exists() else []


def _near(dead: Dead, records: Sequence[Record]) -> list[Record]:
    """The likeliest first, and those that take long last."""

    def cost(record: Record) -> tuple[bool, bool]:
        return record.case.elements >= LARGE, record.origin is None or record.origin.kernel != dead.original.name

    return sorted(records, key=cost)


def replay_all(records: Sequence[Record]) -> int:
    """Replay every case on every correct kernel that it fits, as a plain pytest does; how many replays it took."""
    count = 0
    with CpuDevice() as device:
        for kernel in (kernel for kernel in discover() if kernel.broken is None):
            for record in records:
                count += replay(record, kernel, device).status != "not claimed"
    return count


def dead_of(folder: Path) -> tuple[ScoreOptions, list[Dead]]:
    """The options of a score, and the mutants that an error killed in it."""
    options, scores = scores_in(folder)
    kernels = {kernel.name: kernel for kernel in discover() if kernel.broken is None}
    every = {one.key: one for kernel in kernels.values() for one in mutants(kernel)}
    killed = [score for score in scores if score.status == "killed" and score.key in every]
    return options, [Dead(as_kernel(every[one.key], kernels[one.kernel]), kernels[one.kernel], one) for one in killed]


def _parts(dead: list[Dead]) -> list[tuple[str, list[Dead]]]:
    """Work for several processes: the mutants of a few kernels of one op at a time, most first."""
    parts = []
    for op in sorted({one.original.op for one in dead}):
        names = sorted({one.original.name for one in dead if one.original.op == op})
        groups = [names[at : at + KERNELS_AT_A_TIME] for at in range(0, len(names), KERNELS_AT_A_TIME)]
        parts += [(op, [one for one in dead if one.original.name in group]) for group in groups]
    return sorted(parts, key=lambda part: -len(part[1]))


def build(into: Path, dead: list[Dead], options: ScoreOptions, pool: ProcessPoolExecutor) -> None:
    """Cover every op by a few kernels at a time, thin the result, and save it."""
    work = _parts(dead)
    chosen: dict[str, list[Choice]] = {}
    for done in pool.map(cover, *zip(*work, strict=True), [options] * len(work)):
        chosen.setdefault(done.op, []).extend(done.chosen)
        print(f"{done.op}: {len(done.chosen)} cases kill {done.killed} mutants, {done.seconds:.0f} s", flush=True)
        for line in done.left:
            print(f"  killed by no case again: {line}")
    for op, records in zip(chosen, pool.map(thin, chosen.values()), strict=True):
        print(f"{op}: {len(records)} of {len(chosen[op])} cases are left when what others kill goes", flush=True)
        for record in records:
            corpus.save(into, record)


def main() -> None:
    """Build a corpus if asked to, and print how much the existing corpus kills."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--score", type=Path, required=True)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--build", type=Path, metavar="FOLDER")
    where.add_argument("--measure", type=Path, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    options, dead = dead_of(asked.score)
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        left = left_by(asked.build or asked.measure, dead, pool)
        if asked.build:
            print(f"{len(dead) - len(left)} of {len(dead)} mutants are killed by the cases that are there", flush=True)
            build(asked.build, left, options, pool)
            left = left_by(asked.build, left, pool)
        records = records_in(asked.build or asked.measure)
        began = time.monotonic()
        count = replay_all(records)
    seconds = time.monotonic() - began
    sizes = sorted(record.case.elements for record in records)
    print(
        f"{len(records)} cases, half of them of at most {sizes[len(sizes) // 2]} elements, the largest of {sizes[-1]}"
    )
    print(f"{len(dead) - len(left)} of {len(dead)} mutants that an error killed are killed again")
    for line in left:
        print(f"  not killed again: {line}")
    print(f"{count} replays on correct kernels in {seconds:.1f} s on one core")


if __name__ == "__main__":
    main()

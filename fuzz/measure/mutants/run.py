"""A whole score: all mutants of all kernels, kept on disk one by one, from where it can resume.

Knows which mutants are done; never how a mutant is searched.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kfuzz.campaign.children import MakeDevice
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.measure.mutants.crew import Batch, run_batches
from kfuzz.measure.mutants.trials import Control, Score, ScoreOptions, choose_mutants

SCHEMA = "kfuzz-score/1"
FILE = "score.jsonl"
AT_A_TIME = 4


@dataclass(frozen=True)
class HowFar:
    """How far the score has come; `left` is an estimate in seconds."""

    done: int
    total: int
    seconds: float
    left: float
    score: Score


@dataclass
class ScoreReport:
    """All results, those of resumed runs included."""

    options: ScoreOptions
    controls: dict[str, Control] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)
    interrupted: bool = False


def run_score(
    kernels: Sequence[Kernel],
    make_device: MakeDevice,
    options: ScoreOptions,
    jobs: int,
    out: Path | None,
    listen: Callable[[HowFar], None],
) -> ScoreReport:
    """Score all mutants that have no score in `out` yet; Ctrl-C ends it and loses no result."""
    report = ScoreReport(options)
    log = _Log(out, options)
    every = {
        mutant.key: (kernel, mutant) for kernel in kernels for mutant in choose_mutants(kernel, options.per_operator)
    }
    for control in log.controls:
        report.controls[control.kernel] = control
    report.scores = {score.key: score for score in log.scores if score.key in every}
    batches = []
    for kernel in kernels:
        left = [mutant for own, mutant in every.values() if own is kernel and mutant.key not in report.scores]
        batches += [Batch(kernel, tuple(left[at : at + AT_A_TIME])) for at in range(0, len(left), AT_A_TIME)]
    began, resumed = time.monotonic(), len(report.scores)
    try:
        for message in run_batches(batches, make_device, options, jobs) if batches else ():
            if isinstance(message, Control):
                before = report.controls.get(message.kernel)
                if _verdict_of(message) != _verdict_of(before):  # new, or the kernel's text has changed
                    log.keep(message)
                report.controls[message.kernel] = message
            elif isinstance(message, Score):
                report.scores[message.key] = message
                log.keep(message)
                seconds, done = time.monotonic() - began, len(report.scores)
                each = seconds / (done - resumed)
                listen(HowFar(done, len(every), seconds, each * (len(every) - done), message))
    except KeyboardInterrupt:
        report.interrupted = True
    finally:
        log.close()
    names = {kernel.name for kernel in kernels}
    report.controls = {name: one for name, one in report.controls.items() if name in names}
    return report


def _verdict_of(control: Control | None) -> tuple[object, ...]:
    """What a control says about its kernel, without times."""
    return (control.trials, control.defects) if control else ()


def scores_in(out: Path) -> tuple[ScoreOptions, list[Score]]:
    """The options of an earlier run, and the scores that it kept."""
    path = out / FILE
    try:
        header = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
        options = ScoreOptions(**{name: value for name, value in header.items() if name != "schema"})
    except (OSError, ValueError, TypeError) as error:
        raise CaseError(f"{path}: holds no score: {error}") from None
    log = _Log(None, options)
    log.read(path, {"schema": SCHEMA, **asdict(options)})
    return options, log.scores


class _Log:
    """The results, one line of JSON each, after a line with the options; a torn last line is dropped."""

    def __init__(self, out: Path | None, options: ScoreOptions) -> None:
        self.controls: list[Control] = []
        self.scores: list[Score] = []
        self._file: int | None = None
        if out is None:
            return
        path, header = out / FILE, {"schema": SCHEMA, **asdict(options)}
        try:
            out.mkdir(parents=True, exist_ok=True)
            whole = self.read(path, header) if path.exists() else 0
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            os.ftruncate(self._file, whole)
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            raise CaseError(f"{out}: cannot be written: {error.strerror}; a score keeps what is done there") from None
        if not whole:
            self._write(header)

    def keep(self, result: Control | Score) -> None:
        """Append one line, so that a kill at any moment loses at most that line."""
        table = {name: value for name, value in asdict(result).items() if name not in ("answers", "buckets")}
        self._write({type(result).__name__.lower(): table})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, line: dict[str, object]) -> None:
        if self._file is not None:
            os.write(self._file, (json.dumps(line) + "\n").encode())

    def read(self, path: Path, header: dict[str, object]) -> int:
        """Read the kept results; returns the number of bytes in whole lines."""
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        try:
            parsed = [json.loads(line) for line in lines]
            if parsed and parsed[0] != header:
                raise CaseError(f"{path}: its options are {parsed[0]}, this score's {header}; give another folder")
            for line in parsed[1:]:
                if "control" in line:
                    table = {**line["control"], "defects": tuple(line["control"]["defects"])}
                    self.controls.append(Control(**table, answers=(), buckets=frozenset()))
                else:
                    self.scores.append(Score(**line["score"]))
        except (ValueError, TypeError, KeyError) as error:
            raise CaseError(f"{path}: not the results of a score: {error}; give another folder") from None
        return sum(map(len, lines))

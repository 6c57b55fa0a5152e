"""The inputs that only a reference's file can make, for the process of an answer: as data, without the file.

The process that answers for the reference makes them, so both sides have the same. The file runs in the process of an
answer only where an input is an object that nothing else can make, and never in a sandbox that keeps it out. Knows jobs
and a process that stays up; it does not know torch.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kfuzz.common import serving
from kfuzz.devices import (
    MAKER,
    ClaimError,
    HandedInputs,
    Job,
    MakerOfInputs,
    OutOfTimeError,
    PythonCall,
    UnsupportedError,
    cache,
    called_first,
)

DRAWS, KEEPS_OUT = "draws", "keeps_out"
"""In a question: the draws whose inputs are wanted, and whether the file may not run in the process of an answer."""
DATA, RAISED, NO_DATA = ".data", ".raised.txt", "no_data.txt"
"""The files of an answer: inputs by their draw, why get_inputs has raised there, and what is no data."""
ERRORS = ("error.txt", "raised.txt")
"""The files of why the reference's file does not run."""
CALLED = re.compile(rf"\b{MAKER}\((\w*)\)")
KEPT_BYTES = 64 << 20
"""Inputs that are kept for the next runs of a trial; those of one job always are."""


class InputsOfJobs:
    """Makes the inputs of jobs, and keeps the last ones: a trial runs its job many times."""

    def __init__(self, keeps_out: bool) -> None:
        self._keeps_out = keeps_out
        """No reference enters the process of an answer."""
        self._kept: OrderedDict[tuple[str, int], HandedInputs] = OrderedDict()
        self._without_data: dict[str, str] = {}
        """What the makers of these questions make that is no data."""

    def with_inputs(self, job: Job) -> Job:
        """The job with what the maker of its call makes, in the place of the maker. If that is no data, the same job,
        whose process runs the maker's text; an UnsupportedError where another file's reference is kept out.
        """
        maker = called_first([step.entry for step in job.steps]).maker
        if maker is None:
            return job
        draws = draws_in(job)
        if maker.question not in self._without_data:
            self._make(maker, [one for one in draws if (maker.question, one) not in self._kept])
        if what := self._without_data.get(maker.question):
            if not self._keeps_out or maker.path.resolve() == job.path.resolve():
                return job
            raise UnsupportedError(
                f"{maker.path}: get_inputs makes {what}, which is in this file alone, and this sandbox keeps that "
                "file out: let get_inputs make tensors, numbers and containers; or --no-sandbox"
            )
        made = tuple(self._kept[maker.question, one] for one in draws)
        while sum(one.data.nbytes for one in self._kept.values()) > KEPT_BYTES and len(self._kept) > len(draws):
            self._kept.popitem(last=False)
        return replace(without_maker(job), earlier=tuple(map(without_maker, job.earlier)), made=made)

    def _make(self, maker: MakerOfInputs, draws: Sequence[int]) -> None:
        if not draws:
            return
        with cache.scratch() as folder:
            question = {**json.loads(maker.question), DRAWS: draws, KEEPS_OUT: self._keeps_out}
            (folder / "run.json").write_text(json.dumps(question), encoding="utf-8")
            try:
                serving.ask(maker.server, folder)
            except serving.TimeOverError as error:
                raise OutOfTimeError(f"{maker.path}: not judged: its inputs were still made: {error}") from None
            except serving.NoAnswerError as error:
                raise ClaimError(f"{maker.path}: the process that makes its inputs: {error}") from None
            for file in ERRORS:
                if (words := words_in(folder / file)) is not None:
                    raise ClaimError(f"{maker.path}: {words}")
            if (what := words_in(folder / NO_DATA)) is not None:
                self._without_data[maker.question] = what
                return
            for one in draws:
                self._kept[maker.question, one] = read_inputs(folder, one)


def read_inputs(folder: Path, draw: int) -> HandedInputs:
    """The inputs of a draw that lie in a folder."""
    if (words := words_in(folder / f"{draw}{RAISED}")) is not None:
        return HandedInputs(draw, np.empty(0, np.uint8), words)
    return HandedInputs(draw, np.fromfile(folder / f"{draw}{DATA}", np.uint8))


def words_in(path: Path) -> str | None:
    """The text of a file; None if there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else None


def draws_in(job: Job) -> list[int]:
    """The draws under which the arguments of a job, and of those before it, are made; without one it is the first."""
    return list(dict.fromkeys(draw for one in (job, *job.earlier) for draw in _draws_of(one)))


def _draws_of(job: Job) -> Iterator[int]:
    call = called_first([step.entry for step in job.steps])
    contents = {one.name: one.content for one in job.buffers}
    for name in dict.fromkeys(name for text in call.arguments for name in CALLED.findall(text)):
        content = contents.get(name)
        yield 0 if content is None else int(content.reshape(-1)[0])


def without_maker(job: Job) -> Job:
    """The job for a process that has no maker."""

    def plain(entry: object) -> PythonCall:
        assert isinstance(entry, PythonCall), "other jobs have other runners"
        return replace(entry, maker=None)

    steps = tuple(replace(one, entry=plain(one.entry)) for one in job.steps)
    return replace(job, steps=steps, entries=tuple(map(plain, job.entries)))

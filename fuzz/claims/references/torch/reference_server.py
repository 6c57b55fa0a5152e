"""Describes and runs references for the process that started this one, in forks of one that has imported torch once.

    python -m kfuzz.claims.references.torch.reference_server

A line on standard input names a folder. With question.json in it, a fork of its own describes a reference, and leaves
answer.json there, or errors.txt. With run.json, a fork that stays up runs one, as running_folders.py says. The
references' files run in the forks, and never in a process that judges.
"""

import json
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import torch

from kfuzz.claims.references.torch import describing
from kfuzz.claims.references.torch.running_folders import answer_run
from kfuzz.claims.references.torch.storage import COMPILER, without_numbers
from kfuzz.claims.references.torch.twins.run import core
from kfuzz.claims.references.torch.twins.table import every_rule
from kfuzz.common.serving import serve

HAS_IMPORTED = 3
"""How a fork ends that has imported what a run without numbers needs."""
MOST_FORKS = 4
"""Forks that stay up: no reference runs in one in which the file of another has run, and may have changed torch."""


@dataclass
class ReferenceFork:
    """A fork that runs one reference as often as it is asked."""

    process: int
    asks: IO[str]
    answers: IO[str]

    def answer(self, folder: Path) -> None:
        """Let it do what lies in a folder. If it has ended, so does this process: its words are the last ones."""
        print(folder, file=self.asks, flush=True)
        if not self.answers.readline():
            os._exit(1)

    def end(self) -> None:
        with self.asks, self.answers:
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def fork_beside(others: Iterable[ReferenceFork]) -> ReferenceFork:
    """Another fork. It ends with this process, as no other holds the pipe that it reads."""
    of_asks, of_answers = os.pipe(), os.pipe()
    if process := os.fork():
        os.close(of_asks[0])
        os.close(of_answers[1])
        return ReferenceFork(process, os.fdopen(of_asks[1], "w"), os.fdopen(of_answers[0]))
    try:
        for one in (of_asks[1], of_answers[0], *(one.asks.fileno() for one in others)):
            os.close(one)
        sys.stdin, sys.stdout = os.fdopen(of_asks[0]), os.fdopen(of_answers[1], "w")
        os.dup2(2, 1)
        serve(answer_run)
    finally:  # whatever a reference's file has done
        os._exit(0)


def main() -> None:
    """Answer until the input ends."""
    torch.set_num_threads(1)  # a fork of a process with threads may hang
    core()
    every_rule()
    forks: OrderedDict[tuple[str, ...], ReferenceFork] = OrderedDict()

    needs_compiler = False

    def answer(folder: Path) -> None:
        nonlocal needs_compiler
        if (folder / "question.json").is_file():
            needs_compiler = describe_in_fork(folder, needs_compiler)
            return
        asked = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        key = tuple(asked[name] for name in ("path", "source", "reference"))
        if key not in forks:
            if len(forks) >= MOST_FORKS:
                forks.popitem(last=False)[1].end()
            forks[key] = fork_beside(forks.values())
        forks.move_to_end(key)
        forks[key].answer(folder)

    serve(answer)


def describe_in_fork(folder: Path, is_needed: bool) -> bool:
    """Describe the reference of a question in a process of its own; whether it needs the compiler. `is_needed`: one
    before it did, so that this one need not import it.
    """
    if is_needed:
        without_numbers()
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        return is_needed or os.waitstatus_to_exitcode(status) == HAS_IMPORTED
    with (folder / "errors.txt").open("wb") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            describing.answer_folder(folder)
        finally:  # whatever the reference's file has done
            os._exit(HAS_IMPORTED if COMPILER in sys.modules else 0)


if __name__ == "__main__":
    main()

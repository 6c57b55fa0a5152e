"""Describes references for the process that started this one, each in a fork: torch is imported once.

    python -m kfuzz.claims.references.torch.describe_server

A line on standard input names a folder with question.json; the fork leaves answer.json there, or
errors.txt. The references' files run in the forks, and never in a process that judges.
"""

import os
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from kfuzz.claims.references.torch import describing
from kfuzz.claims.references.torch.twins.run import core
from kfuzz.claims.references.torch.twins.table import every_rule
from kfuzz.common.serving import serve


def main() -> None:
    """Answer until the input ends."""
    torch.set_num_threads(1)  # a fork of a process with threads may hang
    import_all()
    serve(describe_in_fork)


def import_all() -> None:
    """Import for seconds here, and not in each fork: torch's decompositions, its compiler and sympy, and the rules."""
    core()
    every_rule()
    FakeTensorMode()
    torch.randn(1, device="meta")


def describe_in_fork(folder: Path) -> None:
    """Describe the reference of a question in a process of its own, and wait for its end."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    with (folder / "errors.txt").open("wb") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        try:
            describing.answer_folder(folder)
        finally:  # whatever the reference's file has done
            os._exit(0)


if __name__ == "__main__":
    main()

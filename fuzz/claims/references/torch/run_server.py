"""Runs references for the processes that judge, one line on standard input for each run.

    python -m kfuzz.claims.references.torch.run_server

A line names a folder with run.json and inputs.npz; the process leaves formula.py and constants.npz there, or error.txt,
and prints a line. It ends with its input. The references' files run here, and never in a process that judges.
"""

import functools
import json
from pathlib import Path

import numpy as np
import torch

from kfuzz.claims.references.serving import serve
from kfuzz.claims.references.torch.declared import CannotError
from kfuzz.claims.references.torch.inputs import in_declared_types
from kfuzz.claims.references.torch.run_formula import text_of_run
from kfuzz.claims.references.torch.runnable import Runnable, runnable_of
from kfuzz.claims.references.torch.running import run_traced
from kfuzz.devices.python.raising import words_of


def main() -> None:
    """Answer until the input ends."""
    torch.set_num_threads(1)
    serve(answer_run)


def answer_run(folder: Path) -> None:
    """Run a reference at the sizes and integers that lie in a folder."""
    asked = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    try:
        known = known_reference(json.dumps(asked))
        with np.load(folder / "inputs.npz") as held:
            given = in_declared_types(known.declared, {name: torch.from_numpy(held[name]) for name in known.names})
        running, outputs = run_traced(known.call, Path(asked["path"]), given, asked.get("narrow", ()))
        text = text_of_run(running, outputs, given)
        constants = {name: one for name, one in running.memory.constants.items() if f'"{name}"' in text}
        np.savez(folder / "constants.npz", **constants)
        (folder / "formula.py").write_text(text, encoding="utf-8")
    except CannotError as error:
        (folder / "error.txt").write_text(str(error), encoding="utf-8")
    except Exception as error:  # any error of the user's file at these sizes: reported as it is
        (folder / "error.txt").write_text(f"the reference ends with {words_of(error)}", encoding="utf-8")


@functools.lru_cache(maxsize=8)
def known_reference(asked: str) -> Runnable:
    """A reference, whose file is executed once."""
    return runnable_of(json.loads(asked))


if __name__ == "__main__":
    main()

"""An answer in plain torch on the CPU: KernelBench's own test of it, or its error against the model in float64.

    python -m benchmarks.detection.judge_rivals_process own_test|in_float64 ANSWER.py PROBLEM.py [--tolerance 1e-4]

Prints one line of JSON. Runs both files natively; judge_rivals starts it, with a limit.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from benchmarks.detection import own_test_process
from benchmarks.detection.built_together import run_file
from benchmarks.detection.solutions_on_gpu import FAILED, against_float64, words_of


def main() -> None:
    """Print what was found of one answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("own_test", "in_float64"))
    parser.add_argument("answer", type=Path)
    parser.add_argument("problem", type=Path)
    parser.add_argument("--tolerance", type=float, default=own_test_process.TOLERANCE)
    options = parser.parse_args()
    found = own_test(options) if options.verb == "own_test" else in_float64(options)
    print(json.dumps(found), flush=True)


def own_test(options: argparse.Namespace) -> dict[str, Any]:
    """Trials passed of how many, and why not."""
    problem, answer = (path.read_text(encoding="utf-8") for path in (options.problem, options.answer))
    try:
        return own_test_process.answer({
            "path": str(options.problem), "problem": problem, "reference": "Model", "answer_path": str(options.answer),
            "answer": answer, "entry": "ModelNew", "on_gpu": False, "task": "", "tolerance": options.tolerance,
        })  # fmt: skip
    except Exception as error:  # of the answer, when it is imported or made
        return {"passed": 0, "trials": own_test_process.TRIALS, "why": words_of(error)}


def in_float64(options: argparse.Namespace) -> dict[str, Any]:
    """The error at the problem's own inputs, that of torch in float32, and whether the inputs are changed."""
    own_test_process.limit_memory(own_test_process.free_memory() // 2)
    try:
        problem = run_file(options.problem, "problem")
    except Exception as error:
        return {"ran": False, "why": FAILED + words_of(error)}
    try:
        answer = run_file(options.answer, "answer")
    except Exception as error:
        return {"ran": False, "why": f"no import: {words_of(error)}"}
    with torch.no_grad():
        return against_float64(torch, options.problem.stem, problem, answer, "cpu")


if __name__ == "__main__":
    main()

"""Answers of solutions that kfuzz keeps, by the problem's model in float64, without the oracle.

    python -m benchmarks.detection.kept_in_float64 LIST.json --keep FOLDER [--part 0/1]

The cpu device runs each solution once with usual numbers, at the problem's own sizes or smaller ones like them. FOLDER
keeps the sizes and the error |y - exact| / |exact| (2-norms), and that of torch in float32.
"""

import argparse
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.detection.built_together import run_file
from benchmarks.detection.solutions import Solution, in_turns, read_list
from benchmarks.detection.solutions_in_float64 import SEED, indices
from benchmarks.detection.solutions_on_gpu import compare
from kfuzz.campaign.ranking import usual_cases
from kfuzz.campaign.trials.trial import prepare
from kfuzz.cases.case import case_for, numbers_in
from kfuzz.cases.plans.home import home_of
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with

SECONDS = 60.0


def main() -> None:
    """Check the kept solutions, one of each problem first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--part", default="0/1", help="every so many, from this one on")
    options = parser.parse_args()
    kept = [one for (one,) in in_turns(read_list(options.list), 1) if is_kept(options.keep / f"{one.key}.json")]
    first, step = map(int, options.part.split("/"))
    device = PythonDevice()
    for one in kept[first::step]:
        into = options.keep / f"{one.key}.home.json"
        if not into.is_file() and (found := answer_of(one, device)):
            into.write_text(json.dumps(found), encoding="utf-8")
            print(one.key, found, file=sys.stderr, flush=True)
    device.close()


def is_kept(path: Path) -> bool:
    return path.is_file() and json.loads(path.read_text(encoding="utf-8"))["status"] == "kept"


def answer_of(solution: Solution, device: PythonDevice) -> dict[str, Any] | None:
    """The error of an answer at home; None if there is none."""
    import torch  # noqa: PLC0415  only here

    try:
        kernel = kernel_with(solution.solution.resolve(), Unclaimed("reference", reference=solution.problem.resolve()))
        axes = home_of(kernel)
        tune = next(kernel.tunes(axes), {})
        drawn = usual_cases(kernel, axes, tune)[0]
        arrays = {name: numbers_in(one) for name, one in drawn.arrays.items()}
        if "weights" in arrays:
            arrays["weights"] = np.zeros_like(arrays["weights"])  # its own
        asked = prepare(kernel, case_for(kernel, arrays), tune, Probe(runs=1, timeout=SECONDS))
        outcome = device.run(asked.job, Probe(runs=1, timeout=SECONDS))
    except ClaimError:
        return None
    problem = run_file(solution.problem, "problem")
    torch.manual_seed(SEED)
    model = problem.Model(*getattr(problem, "get_init_inputs", list)())
    names = [name for name in inspect.signature(model.forward).parameters if name in arrays]
    with torch.device("meta"):
        made = problem.get_inputs()
    if not outcome.runs or len(names) != len(made):
        return None
    given = [
        torch.from_numpy(arrays[name].copy())
        if of.is_floating_point()
        else torch.from_numpy(indices(arrays[name], arrays[names[0]])).long()
        for name, of in zip(names, made, strict=True)
    ]
    (answer,) = outcome.runs[0].outputs.values()
    with torch.no_grad():
        single = model(*given)
        exact = model.double()(*(one.double() if one.is_floating_point() else one for one in given))
    got = torch.from_numpy(np.array(answer).reshape(exact.shape))
    errors = {
        name: compare(torch, one, exact, given, model)["error"] for name, one in (("error", got), ("single", single))
    }
    return {"sizes": dict(axes), **errors}


if __name__ == "__main__":
    main()

"""The elements that kfuzz calls wrong in the solutions' answers, by the problem's model in float64, without the oracle.

    python -m benchmarks.detection.solutions_in_float64 LIST.json --keep FOLDER

For each verdict with a worst element in FOLDER (benchmarks.detection.solutions): the case's inputs go through the
problem's model in float64 and in float32, with the weights that kfuzz gives to both. The element is *wrong* if the
answer is NaN or infinite where float64 is not, or the other way round, or lies ten times farther from float64 than
float32 does; kfuzz's interval *agrees* if float64 lies in it, or no farther from it. FOLDER keeps both.
"""

import argparse
import inspect
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.built_together import run_file
from benchmarks.detection.kept_lines import add_line
from benchmarks.detection.solutions import CHECKS, Solution, case_file, outcomes_of, read_list
from benchmarks.detection.solutions_on_gpu import widen
from kfuzz.claims.kernel import whole_numbers

SEED = 0
"""Of the weights of both sides, as in kfuzz."""
FARTHER, ROUNDING = 10, 1e-7
DRAWN = "weights"
"""The input of a case that says how kfuzz draws the weights of both sides."""


def main() -> None:
    """Check every verdict that has a worst element."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    options = parser.parse_args()
    every = {one.key: one for one in read_list(options.list)}
    for outcome in outcomes_of([*every.values()], options.keep):
        arrays = case_file(options.keep, outcome.key)
        if outcome.worst and arrays.is_file() and not outcome.in_float64:
            with np.load(arrays) as case:
                found = check(every[outcome.key], outcome.worst, dict(case))
            add_line(options.keep / CHECKS["in_float64"], outcome.key, found)
            print(outcome.key, found, file=sys.stderr, flush=True)


def check(solution: Solution, worst: Mapping[str, Any], case: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Whether the worst element is wrong by float64, and kfuzz's interval right; or why that cannot be said."""
    try:
        exact, single = answers_of(solution, case)
        place = tuple(worst["at"])
        of_double, of_single = (one.reshape(one.shape or (1,))[place].item() for one in (exact, single))
    except Exception as error:  # of the problem's code, or of an answer of another form
        return {"why": f"{type(error).__name__}: {error}"[:200]}
    nearest = min(max(of_double, worst["want"][0]), worst["want"][1]) if math.isfinite(of_double) else worst["want"][0]
    return {
        "wrong": differ(worst["got"], of_double, of_single),
        "agrees": not differ(nearest, of_double, of_single),
    }


def answers_of(solution: Solution, case: Mapping[str, NDArray[Any]]) -> tuple[Any, Any]:
    """The answers of a problem's model in float64 and in float32, to the inputs of a case."""
    import torch  # noqa: PLC0415  only here

    from kfuzz.claims.references.torch.weights import drawn  # noqa: PLC0415  it imports torch

    problem = run_file(solution.problem, "problem")
    number = int(case[DRAWN].reshape(-1)[0]) if DRAWN in case else 0
    torch.manual_seed(SEED)
    with drawn(number):
        model = problem.Model(*getattr(problem, "get_init_inputs", list)())
    names = [*inspect.signature(model.forward).parameters]
    with torch.device("meta"):
        made = problem.get_inputs()
    columns = case[names[0]].shape[-1] if names[0] in case else 0
    given = [
        of
        if not isinstance(of, torch.Tensor)
        else torch.from_numpy(case[name].copy())
        if of.is_floating_point()
        else torch.from_numpy(whole_numbers(case[name], columns)).long()
        for name, of in zip(names, made, strict=False)
    ]
    with torch.no_grad():
        single = model(*given)
        exact = model.double()(*(widen(torch, one) for one in given))
    return exact, single


def differ(one: float, exact: float, single: float) -> bool:
    """Whether a number is another one than that in float64."""
    if not (math.isfinite(one) and math.isfinite(exact)):
        return not (one == exact or (math.isnan(one) and math.isnan(exact)))
    return abs(one - exact) > FARTHER * abs(single - exact) + ROUNDING * abs(exact)


if __name__ == "__main__":
    main()

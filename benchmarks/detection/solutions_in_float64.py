"""The elements that kfuzz calls wrong in the solutions' answers, by the problem's model in float64, without the oracle.

    python -m benchmarks.detection.solutions_in_float64 LIST.json --keep FOLDER

For each finding with a worst element in FOLDER (benchmarks.detection.solutions): the case's inputs go through the
problem's model in float64 and in float32, with the weights that kfuzz gives to both. An element is *wrong* if the
answer is NaN or infinite where float64 is not, or the other way round, or lies ten times farther from float64 than
float32 does; kfuzz's own value *agrees* if it does not. FOLDER keeps the counts of each solution.
"""

import argparse
import inspect
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchmarks.detection.built_together import run_file
from benchmarks.detection.solutions import Solution, read_list
from kfuzz.cases import case_file
from kfuzz.cases.case import numbers_in
from kfuzz.claims.kernel import whole_numbers

SEED = 0
"""Of the weights of both sides, as in kfuzz."""
FARTHER, ROUNDING = 10, 1e-7


def main() -> None:
    """Check every solution whose campaign is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--keep", type=Path, required=True)
    options = parser.parse_args()
    known = {one.key: one for one in read_list(options.list)}
    for report in sorted(options.keep.glob("*.campaign/report.json")):
        for kernel in json.loads(report.read_text(encoding="utf-8"))["kernels"]:
            if (key := Path(kernel["path"]).stem) in known and kernel["findings"]:
                found = counts_of(known[key], kernel, report.parent)
                (options.keep / f"{key}.float64.json").write_text(json.dumps(found), encoding="utf-8")
                print(key, found, file=sys.stderr, flush=True)


def counts_of(solution: Solution, kernel: dict[str, Any], folder: Path) -> dict[str, int]:
    """How many elements were looked at, are wrong by float64, and have kfuzz's value in float64."""
    found = {"elements": 0, "wrong": 0, "agree": 0}
    for got, want, exact, single in elements_of(solution, kernel, folder):
        found["elements"] += 1
        found["wrong"] += differ(got, exact, single)
        found["agree"] += not differ(want, exact, single)
    return found


def elements_of(solution: Solution, kernel: dict[str, Any], folder: Path) -> Iterator[tuple[float, ...]]:
    """The answer, kfuzz's value, and the model's in float64 and float32; cases with drawn weights are left out."""
    import torch  # noqa: PLC0415  only here

    problem = run_file(solution.problem, "problem")
    for finding in kernel["findings"]:
        worst = finding["worst"]
        if worst is None or finding["case"] is None:
            continue
        arrays = case_file.read(folder / finding["case"]).case.arrays
        torch.manual_seed(SEED)
        model = problem.Model(*getattr(problem, "get_init_inputs", list)())
        names = list(inspect.signature(model.forward).parameters)
        if arrays.keys() != {*names}:
            continue
        numbers = [numbers_in(arrays[name]) for name in names]
        with torch.device("meta"):
            made = problem.get_inputs()
        given = [
            torch.from_numpy(one.copy())
            if of.is_floating_point()
            else torch.from_numpy(indices(one, numbers[0])).long()
            for one, of in zip(numbers, made, strict=True)
        ]
        with torch.no_grad():
            single = model(*given)
            exact = model.double()(*(one.double() if one.is_floating_point() else one for one in given))
        place = tuple(worst["index"])
        yield (float(worst["got"]), float(worst["want"]),
               *(one.reshape(one.shape or (1,))[place].item() for one in (exact, single)))  # fmt: skip


def indices(given: NDArray[Any], first: NDArray[Any]) -> NDArray[Any]:
    """Numbers of a case as kfuzz hands them to an input of indices: of columns of the first input."""
    return whole_numbers(given, first.shape[-1])


def differ(one: float, exact: float, single: float) -> bool:
    """Whether a number is another one than that in float64."""
    if not (math.isfinite(one) and math.isfinite(exact)):
        return not (one == exact or (math.isnan(one) and math.isnan(exact)))
    return abs(one - exact) > FARTHER * abs(single - exact) + ROUNDING * abs(exact)


if __name__ == "__main__":
    main()

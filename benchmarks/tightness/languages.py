"""Compare each language's arithmetic (fuzz/devices/python/libraries) with its compiler's, on this machine's GPU.

    python -m benchmarks.tightness.languages triton|torch|cupy|jax

A softmax in the language answers hostile cases. All must be kept under its own arithmetic; under CUDA's accurate
functions, those of a language with other functions are not.
"""

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

import kfuzz
from kfuzz.campaign.schedule import attempt_of
from kfuzz.claims.kernel import load
from kfuzz.claims.language.accuracy import usual_exp
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.library import Arithmetic
from kfuzz.oracle import Accuracy
from kfuzz.oracle.accuracy.rounding import Denominator, Divide

TRITON = Path(__file__).parents[2] / "tests" / "data" / "callables" / "triton"
CASES, BUDGET = 130, 1 << 13
Floats = Any


def answers(language: str) -> Callable[[Floats], Floats]:
    """A softmax of rows in the language, from and to numpy."""
    if language == "cupy":
        cupy, special = importlib.import_module("cupy"), importlib.import_module("cupyx.scipy.special")
        return lambda x: cupy.asnumpy(special.softmax(cupy.asarray(x), axis=-1))
    if language == "jax":
        jax = importlib.import_module("jax")
        return lambda x: np.asarray(jax.nn.softmax(x, axis=-1))
    torch = importlib.import_module("torch")
    if language == "torch":
        return lambda x: torch.softmax(torch.from_numpy(x).cuda(), -1).cpu().numpy()
    sys.path.insert(0, str(TRITON))
    forward = importlib.import_module("softmax").forward
    return lambda x: forward(torch.from_numpy(x).cuda()).cpu().numpy()


def main(language: str) -> int:
    """Count the kept and the broken cases under each arithmetic."""
    kernel = load(TRITON / "softmax.py")
    every = (attempt_of(kernel, 11, index, BUDGET).case.arrays["x"].copy() for index in range(CASES))
    inputs = [x for x in every if not (np.isnan(x).any() or np.isposinf(x).any())]
    answer = answers(language)
    outputs = [answer(x) for x in inputs]
    usual = Arithmetic(ftz=True) if language == "cupy" else libraries()[language].arithmetic
    its_own = Accuracy(
        exp=usual_exp(usual),
        divide=cast(Divide, usual.divide),
        denominator=cast(Denominator, usual.denominator),
        ftz=usual.ftz,
    )
    broken = 0
    for name, accuracy in ((language, its_own), ("without ftz", replace(its_own, ftz=False)), ("CUDA's", Accuracy())):
        verdicts = [kfuzz.judge("softmax", {"x": x}, {"y": y}, accuracy) for x, y in zip(inputs, outputs, strict=True)]
        counts = {word: sum(one.status == word for one in verdicts) for word in ("kept", "broken")}
        worst = max((one.ratio for one in verdicts if one.status == "kept"), default=0.0)
        broken += counts["broken"] if accuracy is its_own else 0
        print(f"{language} by {name}: {counts['kept']} kept, {counts['broken']} broken, worst kept error {worst:.2f}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

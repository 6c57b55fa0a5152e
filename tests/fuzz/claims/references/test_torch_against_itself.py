"""torch's CPU functions lie within their sets: one number of each that once lay outside.

The numbers are torch 2.13's, from sweeps over float32 and all 16-bit numbers.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.claims.kernel import load
from kfuzz.devices.python.libraries import libraries
from kfuzz.oracle.accuracy.rounding import Accuracy, FunctionModel
from kfuzz.oracle.judging.judge import judge
from kfuzz.oracle.numbers.elements import F32, FORMATS, Element, Reals
from kfuzz.oracle.sets.reference_sets import Grade
from kfuzz.oracle.systems.band import Bands


def enclose(op: str, x: float, claim: Accuracy) -> tuple[float, float]:
    """The set of one function at one number."""
    N: Any = Bands(claim, {})
    with np.errstate(all="ignore"):
        value = N.store(getattr(N, op)(N.input(np.array([x]))), F32)
    return float(value.lo[0]), float(value.hi[0])


def claim_of(library: str) -> Accuracy:
    return Accuracy(functions={n: FunctionModel(*m) for n, m in libraries()[library].arithmetic.functions.items()})


TORCH, NUMPY = claim_of("torch"), claim_of("numpy")

ANSWERS = [
    ("expm1", -16.925312042236328, -1.0, -0.9999995),
    ("rsqrt", -0.0, -np.inf, np.nan),
    ("sin", 0.5239001512527466, 0.5002610087394714, 0.50026),
    ("cos", 2.094694137573242, -0.5002589821815491, -0.50026),
    ("exp2", 0.4958614706993103, 1.4101624488830566, 1.41016),
    ("log2", 0.9972946643829346, -0.003908263519406319, -0.00390825),
    ("erfc", 3.0999999046325684, 1.1648664440144785e-05, 1.16487e-05),
]
"""A function, a number, torch's answer there, and a wrong one."""
IN_RUNS = [
    ("elu", (), -16.731327056884766, -1.0, -0.9999985),
    ("celu", (2.0,), -1.0, -0.7869386672973633, -0.78694),
    ("softplus", (), 9.176153182983398, 9.176257133483887, 9.1763),
    ("gelu", (), -3.4481635093688965, -0.0009720378438942134, -0.000965),
    ("pow", (1.7,), 60000.0, 132695856.0, 132650000.0),
    ("pow", (-3,), -2.5, -0.06400000303983688, 0.064),
]
"""The same with the function's other operands, for a reference that is run."""


@pytest.mark.parametrize(("op", "x", "got", "wrong"), ANSWERS)
def test_torch_is_not_accused_of_its_own_functions(op: str, x: float, got: float, wrong: float) -> None:
    lo, hi = enclose(op, x, TORCH)
    assert lo <= got <= hi
    if x:
        assert not lo <= wrong <= hi


@pytest.mark.parametrize(("op", "args", "x", "got", "wrong"), IN_RUNS)
def test_a_run_of_torch_is_not_accused_of_its_own_functions(
    op: str, args: tuple[float, ...], x: float, got: float, wrong: float
) -> None:
    torch = pytest.importorskip("torch")
    twins = "kfuzz.claims.references.torch.twins"
    answered_of = pytest.importorskip(f"{twins}.three_runs").Answered
    function = getattr(torch.nn.functional, op, None) or getattr(torch, op)
    answered = answered_of(lambda x: function(x, *args), [torch.tensor([x])])
    (one,) = pytest.importorskip(f"{twins}.as_arrays").reference_sets(answered)
    assert one.grade(np.array([got]), F32)[0] == Grade.KEPT
    assert one.grade(np.array([wrong]), F32)[0] != Grade.KEPT


@pytest.mark.parametrize(
    ("op", "x", "got", "wrong"),
    [
        ("log", 0.7725515961647034, -0.25805655121803284, -0.258057),
        ("exp2", 127.5539321899414, 2.4978120058414532e38, 2.49782e38),
        ("expm1", -0.010860337875783443, -0.010801575146615505, -0.010801),
        ("sin", 61901.9375, -0.00414632074534893, -0.0041463),
    ],
)
def test_numpy_is_not_accused_of_its_own_functions(op: str, x: float, got: float, wrong: float) -> None:
    lo, hi = enclose(op, x, NUMPY)  # answers of numpy 2.4 with AVX-512
    assert lo <= got <= hi
    assert not lo <= wrong <= hi


def test_a_claim_of_a_torch_function_has_torchs_erf_unless_it_says_another(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    arrays = 'arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }'
    text = "# ///\nimport torch\n\n\ndef forward(x):\n    return torch.nn.functional.gelu(x)\n"
    for said, model in (("", TORCH.functions["erf"]), ('# functions = { erf = "erff" }\n', FunctionModel(5.0))):
        path.write_text(f'# /// kernel\n# op = "gelu"\n# {arrays}\n#\n# [accuracy]\n{said}{text}')
        assert load(path).rounding.models.functions == {"erf": model}


def answers_of_steps(x: Reals, form: Element) -> dict[str, Reals]:
    return {"x / (1 + x.abs())": form.round(x / form.round(1 + np.abs(x))), "x ** 3": form.round(form.round(x * x) * x)}


@pytest.mark.slow  # torch is imported, and a trace made
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("text", ["x / (1 + x.abs())", "x ** 3"])
def test_each_step_of_a_reference_may_be_as_narrow_as_its_tensors(text: str, kind: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "theirs.py"
    arrays = f'x = "{kind}[rows, cols] -> x", y = "{kind}[rows, cols] <- y"'
    claim = f'# /// kernel\n# op = "reference"\n# arrays = {{ {arrays} }}\n# ///\n'
    path.write_text(f"{claim}import torch\n\n\ndef reference(x):\n    return {text}\n\n\nforward = reference\n")
    kernel = load(path)
    form = FORMATS[kind]
    x = form.round(np.random.default_rng(1).uniform(0.01, 3, (8, 64)))
    got = answers_of_steps(x, form)[text]
    for scale, status in ((1.0, "kept"), (1 + 16 * form.u, "broken")):
        held = {role: as_stored(v, kind) for role, v in (("x", x), ("y", form.round(got * scale)))}
        verdict = judge(kernel.op, {"x": held["x"]}, {"y": held["y"]}, Accuracy(), kernel.special)
        assert verdict.status == status


def as_stored(x: Reals, kind: str) -> Any:  # noqa: ANN401  f16, or the bits of bf16
    return x.astype(np.float16) if kind == "f16" else (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)

"""torch's CPU functions lie within the formula that is made of them: one number of each that once lay outside.

The numbers are torch 2.13's, from sweeps over float32 and all 16-bit numbers.
"""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.claims.kernel import load
from kfuzz.claims.references.aten.table import ATTENTIONS, write_operation
from kfuzz.claims.references.aten.term import Arg, Term, Writer
from kfuzz.devices.python.libraries import libraries
from kfuzz.oracle.accuracy.rounding import Accuracy, FunctionModel
from kfuzz.oracle.judging.judge import judge
from kfuzz.oracle.numbers.elements import F32, FORMATS, Element, Reals
from kfuzz.oracle.systems.band import Bands


def enclose(op: str, x: float, claim: Accuracy, *args: Arg, stored: Element = F32) -> tuple[float, float]:
    """The set of one operation at one number: over all forms of the formula that is written of it."""
    to = Writer({})
    made = write_operation(to, op, "y", [Term("x", ("n",)), *args], {}, ("n",))
    assert made is not None
    ends = []
    for form in product(*to.forms.values()):
        lo, hi = evaluate(to, made.text, claim, ", ".join(form), stored, x=np.array([x]))
        ends.append((float(lo[0]), float(hi[0])))
    return min(lo for lo, _ in ends), max(hi for _, hi in ends)


def evaluate(
    to: Writer, result: str, claim: Accuracy, form: str, stored: Element, **inputs: Reals
) -> tuple[Reals, Reals]:
    """The set of a written formula in one form."""
    N = Bands(claim, {}, form=form)
    names: dict[str, Any] = {"N": N, "np": np, **{name: N.input(value) for name, value in inputs.items()}}
    with np.errstate(all="ignore"):
        for name, text in to.lines:
            names[name] = eval(text, names)  # noqa: S307  the formula's own lines
        value = N.store(names[result], stored)
    return value.lo, value.hi


def claim_of(library: str) -> Accuracy:
    return Accuracy(functions={n: FunctionModel(*m) for n, m in libraries()[library].arithmetic.functions.items()})


TORCH, NUMPY = claim_of("torch"), claim_of("numpy")

ANSWERS: list[tuple[str, tuple[Arg, ...], float, float, float]] = [
    ("elu", (), -16.731327056884766, -1.0, -0.9999995),
    ("elu", (0.5,), -16.712656021118164, -0.5, -0.4999995),
    ("expm1", (), -16.925312042236328, -1.0, -0.9999995),
    ("celu", (2.0,), -1.0, -0.7869386672973633, -0.78694),
    ("softplus", (), 9.176153182983398, 9.176257133483887, 9.17626),
    ("softplus", (2.0,), 0.5, 0.6566308736801147, 0.65664),
    ("gelu", (), -3.4481635093688965, -0.0009720378438942134, -0.000971),
    ("reciprocal", (), -0.0, -np.inf, 1.0),
    ("rsqrt", (), -0.0, -np.inf, np.nan),
    ("sin", (), 0.5239001512527466, 0.5002610087394714, 0.50026),
    ("cos", (), 2.094694137573242, -0.5002589821815491, -0.50026),
    ("exp2", (), 0.4958614706993103, 1.4101624488830566, 1.41016),
    ("log2", (), 0.9972946643829346, -0.003908263519406319, -0.00390825),
    ("erfc", (), 3.0999999046325684, 1.1648664440144785e-05, 1.16487e-05),
    ("pow", (1.7,), 60000.0, 132695856.0, 132692000.0),
    ("pow", (-3,), -2.5, -0.06400000303983688, 0.064),
    ("round", (), 2.5, 2.0, 3.0),
    ("sign", (), -0.5, -1.0, 1.0),
]
"""An operation, its other operands, a number, torch's answer there, and a wrong one."""


@pytest.mark.parametrize(("op", "args", "x", "got", "wrong"), ANSWERS)
def test_torch_is_not_accused_of_its_own_functions(
    op: str, args: tuple[Arg, ...], x: float, got: float, wrong: float
) -> None:
    lo, hi = enclose(op, x, TORCH, *args)
    assert lo <= got <= hi
    if x:
        assert not lo <= wrong <= hi


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


@pytest.mark.parametrize("kind", ATTENTIONS)
def test_attention_by_one_operation_is_not_accused(kind: str) -> None:
    """KernelBench's problem 97: three inputs between 0 and 1, none of them masked."""
    to, shape = Writer({}), ("b", "h", "s", "d")
    made = write_operation(to, f"_scaled_dot_product_{kind}", "y", [Term(name, shape) for name in "qkv"], {}, shape)
    assert isinstance(made, Term)
    q, k, v = (np.random.default_rng(97).random((1, 2, 8, 16), np.float32) for _ in range(3))
    lo, hi = evaluate(to, made.text, TORCH, "", F32, q=q, k=k, v=v)
    for scale, is_right in ((0.25, True), (0.2501, False)):
        e = np.exp(q @ k.swapaxes(-1, -2) * np.float32(scale))
        answer = e @ v / e.sum(-1, keepdims=True)
        assert bool(((lo <= answer) & (answer <= hi)).all()) == is_right


def test_a_claim_of_a_torch_function_has_torchs_erf_unless_it_says_another(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    arrays = 'arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }'
    text = "# ///\nimport torch\n\n\ndef forward(x):\n    return torch.nn.functional.gelu(x)\n"
    for said, model in (("", TORCH.functions["erf"]), ('# functions = { erf = "erff" }\n', FunctionModel(5.0))):
        path.write_text(f'# /// kernel\n# op = "gelu"\n# {arrays}\n#\n# [accuracy]\n{said}{text}')
        assert load(path).rounding.models.functions == {"erf": model}


def test_gelu_by_another_erf_is_accused_as_ever() -> None:
    """The polynomial is torch's own; a kernel of another library has CUDA's documented erf."""
    lo, hi = enclose("gelu", -3.4481635093688965, Accuracy())
    assert not lo <= -0.0009720378438942134 <= hi


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
    accuracy = kernel.accuracy(kernel.sizes({"rows": 8, "cols": 64}, {}))
    assert set(accuracy.keep.values()) == {kind}
    for scale, status in ((1.0, "kept"), (1 + 16 * form.u, "broken")):
        held = {role: as_stored(v, kind) for role, v in (("x", x), ("y", form.round(got * scale)))}
        verdict = judge(kernel.op, {"x": held["x"]}, {"y": held["y"]}, accuracy, kernel.special)
        assert verdict.status == status


def as_stored(x: Reals, kind: str) -> Any:  # noqa: ANN401  f16, or the bits of bf16
    return x.astype(np.float16) if kind == "f16" else (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)

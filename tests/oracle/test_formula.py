"""Ops that are formulas, as a user meets them: verdicts in every format, forms, scalars, integers, ops of your own."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from paths import ROOT

from kfuzz import oracle
from kfuzz.oracle import Accuracy, OracleError, Special, judge, want
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find, load
from kfuzz.oracle.numbers.elements import BF16, F16, F32, FORMATS, Element, store, values
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.proof.simulations import check
from kfuzz.oracle.systems.value import WORDS
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.ops_page import page
from tests.oracle.selfcheck.independent import KERNELS
from tests.oracle.selfcheck.tasks import formula_ops

Numbers = NDArray[Any]
RNG = np.random.default_rng(5)
ROW = np.zeros((1, 3), "f4")
POSITIVE = {"batch_norm": "var", "kl_div_loss": "t"}
"""Ops of which a negative number among some inputs makes everything NaN."""


def layer_norm(x: Numbers, w: Numbers | float, b: Numbers | float, eps: float = 1e-5, ddof: int = 0) -> Numbers:
    mean = x.mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=1, keepdims=True, ddof=ddof) + eps) * w + b


def normal(*shape: int) -> Numbers:
    return RNG.standard_normal(shape)


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "f64"])
def test_a_right_answer_is_kept_in_every_format_and_a_wrong_one_broken(name: str) -> None:
    form = FORMATS[name]
    x, w, b = (store(a, form) for a in (normal(5, 64) + 3, normal(64), normal(64)))
    inputs = {"x": x, "w": w, "b": b}
    plain = [values(a) for a in (x, w, b)]
    right, wrong = (store(layer_norm(*plain, ddof=ddof), form) for ddof in (0, 1))
    claim = Accuracy(adds=10, form="two pass")
    assert judge("layer_norm", inputs, {"y": right}, claim).status == "kept"
    verdict = judge("layer_norm", inputs, {"y": wrong}, claim)
    assert (verdict.status, verdict.tier) == ("broken", "arb")


def test_scalars_are_given_by_name_and_default_to_the_ops_own() -> None:
    x, w, b = normal(3, 8).astype("f4"), np.ones(8, "f4"), np.zeros(8, "f4")
    y = layer_norm(x.astype("f8"), w, b, eps=0.1).astype("f4")
    inputs = {"x": x, "w": w, "b": b}
    assert judge("layer_norm", inputs, {"y": y}, scalars={"eps": 0.1}).status == "kept"
    assert judge("layer_norm", inputs, {"y": y}).status == "broken"
    with pytest.raises(OracleError, match="scalars has epsilon: expected eps"):
        judge("layer_norm", inputs, {"y": y}, scalars={"epsilon": 1})


def test_any_form_that_is_not_claimed_away_is_right() -> None:
    x, labels = (normal(40, 9) * 30 + 200).astype("f4"), RNG.integers(0, 9, 40)
    e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    lse = (x.max(axis=1).astype("f4") + np.log(e.sum(axis=1)).astype("f4")).astype("f4")
    by_lse = lse - x[np.arange(40), labels]
    inputs = {"x": x, "labels": labels}
    claim = {"adds": 5, "rescales": 0}
    assert judge("cross_entropy", inputs, {"loss": by_lse}, Accuracy(**claim)).status == "kept"
    assert judge("cross_entropy", inputs, {"loss": by_lse}, Accuracy(**claim, form="lse - x")).status == "kept"
    assert (
        judge("cross_entropy", inputs, {"loss": by_lse}, Accuracy(**claim, form="log s - (x - m)")).status == "broken"
    )


def test_a_mean_of_divided_terms_is_right_where_their_rounding_shows() -> None:
    x = np.full((1, 4), 9e-41, np.float32)
    assert judge("mean", {"x": x}, {"y": (x * np.float32(0.25)).sum(axis=1)}).status == "kept"
    assert judge("mean", {"x": x}, {"y": (x * np.float32(0.2)).sum(axis=1)}).status == "broken"


def test_a_mean_that_goes_along_is_right() -> None:
    x = np.float32([[-3.5e-41, 1e-42, 7e-41, -4e-41, 1.5e-41, 2e-42, -6e-41, 3e-41, 9e-42, -1e-41, 5e-42]])
    mean = np.float32(0)
    for count, one in enumerate(x[0], 1):
        mean += (one - mean) / np.float32(count)
    assert judge("mean", {"x": x}, {"y": np.array([mean])}).status == "kept"
    assert judge("mean", {"x": x}, {"y": np.array([mean * np.float32(3) + np.float32(1e-42)])}).status == "broken"


def test_a_seldom_form_is_right_only_where_a_claim_may_mean_it() -> None:
    x = np.float32([[-20.0, -3.0, 0.0, 5.0]])
    by_tanh = x * (np.float32(0.5) * np.tanh(np.float32(0.5) * x) + np.float32(0.5))
    assert judge("silu", {"x": x}, {"y": by_tanh}).status == "suspect"
    for form in ("any", "x / 2 (1 + tanh(x / 2))"):
        assert judge("silu", {"x": x}, {"y": by_tanh}, accuracy=Accuracy(form=form)).status == "kept"
        assert (
            judge("silu", {"x": x}, {"y": by_tanh * np.float32(1.0001)}, accuracy=Accuracy(form=form)).status
            == "broken"
        )


ONE = np.float32(1)
FINITE = np.float32([[0.8, -1, 2, 0.1, 0]])
FAINT = np.float32([-2.3e-41, 1, 1, 1, 1])
INVERSE_RMS = ONE / np.sqrt(np.mean(FINITE * FINITE, axis=1, keepdims=True) + np.float32(1e-6))
INVERSE_DEVIATION = ONE / np.sqrt(FINITE.var(axis=1, keepdims=True) + np.float32(1e-5))
FOLDED = INVERSE_DEVIATION * FAINT
ALL_MASKED = np.float32([[[-np.inf, -np.inf], [0, 0]]])
OTHERS_WRITE = {
    "x (r w)": ("rms_norm", {"x": FINITE, "w": FAINT}, "y", FINITE * (INVERSE_RMS * FAINT)),
    "(x w) r": ("rms_norm", {"x": FINITE, "w": FAINT}, "y", (FINITE * FAINT) * INVERSE_RMS),
    "folded": (
        "layer_norm", {"x": FINITE, "w": FAINT, "b": FINITE[0]}, "y",
        FINITE * FOLDED + (FINITE - FINITE.mean(axis=1, keepdims=True) * FOLDED),
    ),
    "0 beyond": ("causal_softmax", {"x": ALL_MASKED}, "y", np.float32([[[np.nan, 0], [0.5, 0.5]]])),
    "q scale - zero scale": (
        "dequantize", {"q": np.int32([[1]]), "scale": np.float32([-93.6]), "zero": np.int32([-3])}, "y",
        np.float32([[np.float32(-93.6) - np.float32(-93.6) * np.float32(-3)]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("written", OTHERS_WRITE)
def test_what_a_silent_claim_may_mean_is_right_however_it_is_written(written: str) -> None:
    op, inputs, output, answer = OTHERS_WRITE[written]
    assert judge(op, inputs, {output: answer}).status == "kept"
    wrong = judge(op, inputs, {output: np.where(answer == 0, answer, answer * np.float32(1.01))})
    assert wrong.status == "broken"


def test_attention_by_the_logarithm_of_its_sum_is_a_seldom_form() -> None:
    scores = np.float32([1003.9, 1003.8])
    inputs = {"q": ROW[None, :, :1] * 0 + 1, "k": scores.reshape(1, 2, 1), "v": np.ones((1, 2, 1), "f4")}
    m = scores.max()
    lse = m + np.log(np.exp(scores - m).sum())
    answer = np.exp(scores - lse).sum().reshape(1, 1, 1)
    assert judge("attention", inputs, {"o": answer}, Accuracy(form="any")).status == "kept"
    assert judge("attention", inputs, {"o": answer}).status == "suspect"
    assert judge("attention", inputs, {"o": answer * np.float32(1.01)}, Accuracy(form="any")).status == "broken"


def test_a_form_that_the_op_lacks_is_named() -> None:
    x = np.zeros((1, 3), "f4")
    with pytest.raises(OracleError, match="form='three pass': expected two pass or welford or moments"):
        judge("variance", {"x": x}, {"y": x[:, 0]}, Accuracy(form="three pass"))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: judge("cross_entropy", {"x": ROW, "labels": np.array([3])}, {"loss": ROW[0, :1]}),
         "cross_entropy: inputs['labels'] has 3..3: expected 0..2"),
        (lambda: judge("causal_attention", {"q": np.zeros((1, 4, 2), "f4"), "k": np.zeros((1, 3, 2), "f4"),
                                            "v": np.zeros((1, 3, 2), "f4")}, {"o": np.zeros((1, 4, 2), "f4")}),
         "expected keys >= rows"),
        (lambda: load(Path("/nowhere/op.py")), "op='/nowhere/op.py': no such file"),
    ],
)  # fmt: skip
def test_a_wrong_question_about_a_formula_is_named(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(OracleError) as error:
        ask()
    assert message in str(error.value)


def attention(q: Numbers, k: Numbers, v: Numbers, scale: float) -> Numbers:
    s = np.einsum("hid,hjd->hij", q, k) * scale
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("hij,hjd->hid", e / e.sum(axis=-1, keepdims=True), v)


def test_attention_by_numpy_is_kept_and_by_another_scale_is_not() -> None:
    q, k, v = (normal(2, n, 16).astype("f4") for n in (5, 40, 40))
    inputs = {"q": q, "k": k, "v": v}
    for scale, status in ((0.25, "kept"), (0.2505, "broken")):
        o = attention(*(a.astype("f8") for a in (q, k, v)), scale).astype("f4")
        assert judge("attention", inputs, {"o": o}, Accuracy(adds={"qk": 16, "*": 40}, rescales=3)).status == status


def test_a_row_that_sees_no_key_is_nan_or_zero_as_the_claim_has_it() -> None:
    q, k, v = (normal(1, n, 4).astype("f4") for n in (2, 3, 3))
    mask = np.array([[0, 0, 0], [-np.inf] * 3], "f4")
    inputs = {"q": q, "k": k, "v": v, "mask": mask}
    o = attention(*(a.astype("f8") for a in (q, k, v)), 0.5).astype("f4")
    for fill, policy, status in (
        (np.nan, "nan", "kept"),
        (0, "zero", "kept"),
        (0, "nan", "broken"),
        (np.nan, "zero", "broken"),
        (np.nan, None, "kept"),
        (0, None, "kept"),
        (1, None, "broken"),
    ):
        o[0, 1] = fill
        assert judge("masked_attention", inputs, {"o": o}, special=Special(all_neg_inf=policy)).status == status


def test_a_score_whose_overflow_the_order_decides_makes_no_row_nan() -> None:
    """The third score is -4.6e39, whatever a kernel makes of it; the second key has all the weight."""
    q, k = np.float32([[[1.2, -0.1, 13.0]]]), np.float32([[[0, 0, 0], [-0.5, 0, 2048], [-3e38, -3e38, -3.1e38]]])
    v = np.float32([[[4.0], [-1.875], [7.0]]])
    for answer in (-1.875, np.nan):
        verdict = judge("attention", {"q": q, "k": k, "v": v}, {"o": np.float32([[[answer]]])})
        assert verdict.status == "not judged", answer
    k[0, 2] = -1e3
    assert judge("attention", {"q": q, "k": k, "v": v}, {"o": np.float32([[[-1.875]]])}).status == "kept"
    assert judge("attention", {"q": q, "k": k, "v": v}, {"o": np.float32([[[np.nan]]])}).status == "broken"


def test_what_is_added_up_before_the_division_may_overflow() -> None:
    """Two equal keys with v = 3e38: their sum is no float, their mean is."""
    q, k, v = np.zeros((1, 1, 1), "f4"), np.zeros((1, 2, 1), "f4"), np.full((1, 2, 1), 3e38, "f4")
    for answer in (3e38, np.inf):
        verdict = judge("attention", {"q": q, "k": k, "v": v}, {"o": np.float32([[[answer]]])})
        assert verdict.status == "not judged", answer
    first = Accuracy(form="normalize first")
    assert judge("attention", {"q": q, "k": k, "v": v}, {"o": np.float32([[[np.inf]]])}, first).status == "broken"


def test_a_join_of_running_means_may_overflow_before_it_is_weighed() -> None:
    """off^2 n_A / n with off = 1.5e19 and n_A = 2: off^2 n_A is no float, off^2 n_A n_B / n is."""
    x, ones = np.float32([[0, 0, 1.5e19]]), np.ones(3, "f4")
    inputs = {"x": x, "w": ones, "b": ones}
    wrong = {"y": np.ones((1, 3), "f4")}
    assert judge("layer_norm", inputs, wrong, Accuracy(form="welford")).status == "not judged"
    assert judge("layer_norm", inputs, wrong, Accuracy(form="two pass")).status == "broken"


def wrong_norm(x: Numbers, w: Numbers, b: Numbers, mistake: str) -> Numbers:
    off, var = x - x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    scale = {
        "n - 1 for n": 1 / np.sqrt(var * x.shape[1] / (x.shape[1] - 1) + 1e-5),
        "eps outside the root": 1 / (np.sqrt(var) + 1e-5),
        "the mean left in the variance": 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5),
    }.get(mistake, 1 / np.sqrt(var + 1e-5))
    if mistake == "the mean left out":
        off = x
    return off * scale * (1 if mistake == "w left out" else w) + (0 if mistake == "b left out" else b)


MISTAKES = (
    "n - 1 for n", "eps outside the root", "the mean left in the variance", "the mean left out",
    "w left out", "b left out",
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_step_is_named(mistake: str) -> None:
    rng = np.random.default_rng(7)
    x, w, b = (rng.standard_normal(shape).astype("f4") for shape in ((6, 32), 32, 32))
    x = (3e-3 * x + 0.25 * x.std()).astype("f4")
    y = wrong_norm(*(a.astype("f8") for a in (x, w, b)), mistake).astype("f4")
    claim = Accuracy(adds=32, form="two pass")
    assert judge("layer_norm", {"x": x, "w": w, "b": b}, {"y": y}, claim).diagnosis == mistake


def test_an_error_of_no_single_step_is_named_after_none() -> None:
    x, ones = normal(6, 32).astype("f4"), np.ones(32, "f4")
    y = layer_norm(x.astype("f8"), ones, 0 * ones) * (1 + 1e-3 * normal(6, 32))
    verdict = judge("layer_norm", {"x": x, "w": ones, "b": 0 * ones}, {"y": y.astype("f4")})
    assert (verdict.status, verdict.diagnosis) == ("broken", "wrong elements")


def test_other_wrong_steps_are_named() -> None:
    x = normal(4, 40).astype("f4")
    y = np.concatenate([np.zeros((4, 1)), np.cumsum(x.astype("f8"), axis=1)[:, :-1]], axis=1).astype("f4")
    assert judge("prefix_sum", {"x": x}, {"y": y}).diagnosis == "exclusive where inclusive belongs"
    q, k, v = (normal(2, 5, 8).astype("f4") for _ in range(3))
    for scale, seen, diagnosis in ((1 / 8, 0, "scale twice"), (8**-0.5, -1, "mask off by one: one too few")):
        s = q.astype("f8") @ np.swapaxes(k, 1, 2).astype("f8") * scale
        s = np.where(np.arange(5) <= np.maximum(np.arange(5)[:, None] + seen, 0), s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        o = (p @ v / p.sum(axis=-1, keepdims=True)).astype("f4")
        got = judge("causal_attention", {"q": q[:, 1:], "k": k, "v": v}, {"o": o[:, 1:]})
        assert got.diagnosis == diagnosis


def test_a_choice_by_one_truth_for_all_elements_is_explained(tmp_path: Path) -> None:
    """The diagnosis moves each mask by a place, and ended with an IndexError for a mask without an axis."""
    roles = 'INPUTS = {"x": "float[rows, cols]"}\nOUTPUTS = {"y": "float[rows, cols]"}\n'
    rule = "def formula(N, x):\n    return {'y': x + N.where(N.number(0.0).is_zero, 1.0, 2.0)}\n"
    (tmp_path / "one.py").write_text(f"{roles}\n\n{rule}")
    assert judge(str(tmp_path / "one.py"), {"x": ROW}, {"y": ROW + 2}).status == "broken"


def test_the_logarithm_of_nothing_is_minus_infinity_or_nan() -> None:
    x = np.full((1, 3), -np.inf, "f4")
    for answer, status in ((-np.inf, "kept"), (np.nan, "kept"), (0.0, "broken")):
        assert judge("logsumexp", {"x": x}, {"y": np.float32([answer])}).status == status


def test_shared_values_show_a_bug_in_no_single_element() -> None:
    x = (normal(1, 400) + 50).astype("f4")
    inputs = {"x": x, "w": np.ones(400, "f4"), "b": np.zeros(400, "f4")}
    y = layer_norm(x.astype("f8"), 1, 0).astype("f4")
    y[0, ::2] += np.float32(1e-5)  # two means
    loose = Accuracy(form="two pass")
    assert judge("layer_norm", inputs, {"y": y}, loose).status == "broken"
    assert judge("layer_norm", inputs, {"y": y}, Accuracy(form="two pass", shared=())).status == "kept"


@pytest.mark.parametrize("op", formula_ops(), ids=lambda op: op.name)
def test_mpmath_lies_in_every_enclosure(op: Op) -> None:
    assert any(has_answers_in_its_enclosures(op) for _ in range(10))  # segments may all be empty


def has_answers_in_its_enclosures(op: Op) -> bool:
    """Whether random inputs have a finite answer in each output; all of them must lie in the enclosures."""
    inputs: dict[str, Any] = op.random_inputs(op.small_sizes(3), RNG)
    if op.name in POSITIVE:
        inputs[POSITIVE[op.name]] = np.abs(inputs[POSITIVE[op.name]])
    inputs = {k: op.store_input(k, a, F32) for k, a in inputs.items()}
    exact, answers = want(op.name, inputs, digits=30), list[bool]()
    for name, enclosure in enclose(op, inputs, Accuracy(), Special(nan="ieee", pos_inf="ieee")).items():
        slow = exact[name].astype(np.float64)
        known = enclosure.judged & np.isfinite(slow)
        room = 2.0**-50 * np.abs(slow)
        assert ((enclosure.lo <= slow + room) & (slow - room <= enclosure.hi))[known].all()
        answers.append(bool(known.any()))
    return all(answers)


IN_16_BITS = [(name, form) for name in ("softmax", "rms_norm", "attention") for form in (F16, BF16)]
EACH_TIME = {("softmax", F16), ("rms_norm", BF16), ("attention", BF16)}
"""Each op and each format once; `make soak` has the other pairs."""


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(*one, id=f"{one[1].name}-{one[0]}", marks=() if one in EACH_TIME else pytest.mark.soak)
        for one in IN_16_BITS
    ],
)
def test_simulated_kernels_in_16_bits_are_inside(name: str, form: Element) -> None:
    op = find(name)
    with np.errstate(all="ignore"):
        found = check(op, form, quick=True)
    assert found.rows > 500
    assert (found.outside, found.clashes) == (0, 0)


def test_every_independent_kernel_names_an_op() -> None:
    assert {op for op, _, _ in KERNELS.values()} <= set(oracle.op_names())


def test_the_template_is_an_op_that_may_judge(tmp_path: Path) -> None:
    runner = CliRunner()
    template = runner.invoke(main, ["op", "--template"])
    file = tmp_path / "my_op.py"
    file.write_text(template.output)
    done = runner.invoke(main, ["op", str(file)])
    assert done.exit_code == 0, done.output
    assert "may judge kernels" in done.output
    x = np.array([[1, 2]], "f4")
    y = (1.5 * x.astype("f8") / (1 + np.exp(-x.astype("f8")))).astype("f4")
    assert judge(str(file), {"x": x}, {"y": y}).status == "kept"
    assert judge(str(file), {"x": x}, {"y": x}).status == "broken"


SORTED = '''"""sorted_rows: the elements of each row, the least first."""

import numpy as np

from kfuzz.oracle.numbers.enclosure import Bounds, Enclosure

INPUTS = {"x": "float32[rows, cols]"}
OUTPUTS = {"y": "float32[rows, cols]"}


def formula(N, x):
    return N.value(np.sort(x.x, axis=-1))


def answers(inputs, accuracy, special, sizes):
    y = np.sort(inputs["x"].astype(np.float64), axis=-1)
    every, none = np.ones(y.shape, dtype=np.bool_), np.zeros(y.shape)
    return {"y": Enclosure(y, y, y, every, none, none, lambda index, bits: Bounds(*[arb(y[index])] * 3))}
'''


def test_an_op_may_say_which_answers_are_right(tmp_path: Path) -> None:
    path = tmp_path / "sorted_rows.py"
    path.write_text(SORTED.replace("import numpy", "from flint import arb\nimport numpy"))
    x = normal(4, 7).astype("f4")
    assert judge(str(path), {"x": x}, {"y": np.sort(x)}).status == "kept"
    assert judge(str(path), {"x": x}, {"y": x}).status == "broken"
    with pytest.raises(OracleError, match="adds='sum': expected \\*"):
        judge(str(path), {"x": x}, {"y": x}, Accuracy(adds={"sum": 1}))
    result = CliRunner().invoke(main, ["op", str(path)])
    assert (result.exit_code, "simulated" in result.output) == (0, False), result.output


def test_an_op_whose_shift_does_not_cancel_may_not_judge(tmp_path: Path) -> None:
    file = tmp_path / "no_op.py"
    file.write_text('INPUTS = {"x": "float[rows, cols]"}\nOUTPUTS = {"y": "float[rows, cols]"}\n'
                    "def formula(N, x):\n    return N.exp(x - N.shift(x))\n")  # fmt: skip
    done = CliRunner().invoke(main, ["op", str(file)])
    assert done.exit_code == 1
    assert "FAILED the shift cancels" in done.output


def test_an_op_of_which_no_answer_is_a_number_may_not_judge(tmp_path: Path) -> None:
    file = tmp_path / "no_op.py"
    for formula, code in (("N.sum(x) / 0", 1), ("N.sum(x) / 2", 0)):
        file.write_text('INPUTS = {"x": "float[rows, cols]"}\nOUTPUTS = {"y": "float[rows]"}\n'
                        f"def formula(N, x):\n    return {formula}\n")  # fmt: skip
        done = CliRunner().invoke(main, ["op", str(file)])
        assert done.exit_code == code, done.output
        assert ("FAILED answers are finite numbers" in done.output) == bool(code)


OWN = """INPUTS = {{"x": "float[rows, cols]"}}
OUTPUTS = {{"y": "float[rows, cols]"}}
def formula(N, x):
    return {}
"""


@pytest.mark.parametrize("formula", ["N.maximum(0.5, x)", "(x + 0.5 + abs(x - 0.5)) / 2", "-N.minimum(-x, -0.5)"])
def test_the_greater_of_two_is_written_in_either_order(tmp_path: Path, formula: str) -> None:
    file = tmp_path / "clamp.py"
    file.write_text(OWN.format(formula))
    x = np.array([[-2, 0.25, 0.5, 3, 1e30]], "f4")
    assert judge(str(file), {"x": x}, {"y": np.maximum(x, np.float32(0.5))}).status == "kept"
    assert judge(str(file), {"x": x}, {"y": x}).status == "broken"


def test_a_maximum_may_drop_nan_or_keep_it_and_be_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "relu.py"
    file.write_text(OWN.format("N.maximum(x, 0.0)"))
    x = np.array([[np.nan, 3, -1]], "f4")
    said = Special(nan="ieee")
    for first, status in ((0, "kept"), (np.nan, "kept"), (1, "broken")):
        got = judge(str(file), {"x": x}, {"y": np.array([[first, 3, 0]], "f4")}, special=said)
        assert got.status == status, first


def test_the_page_names_every_word_of_a_formula() -> None:
    words = (ROOT / "docs" / "formulas.md").read_text().partition("## Words")[2].partition("\n## ")[0]
    assert [word for word in WORDS if not re.search(rf"`{word}\b", words)] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INPUTS = {}", "no function 'formula(N, ...)'"),
        ("def formula(N, x): return x", "INPUTS is missing"),
        ('INPUTS = {"x": "float"}\nOUTPUTS = {"y": "float[n]"}\ndef formula(N, x): return x',
         "INPUTS['x'] = 'float': not a role"),
        ('INPUTS = {"x": "float[n]"}\nOUTPUTS = {"y": "float[n]"}\ndef formula(N, z): return z',
         "formula takes N, z: expected N, x"),
        ("import nothing_at_all", "ModuleNotFoundError"),
        (OWN.format("N.gamma(x)"), "some.py:4: there is no N.gamma; a formula may ask N for exp, exp2"),
        (OWN.format("x + x[:, :3]"), "some.py:4: the formula cannot be worked out: ValueError: operands"),
        (OWN.format("x ** 2"), "some.py:4: the formula cannot be worked out: TypeError: unsupported operand"),
        (OWN.format('{"z": x}'), "some: the formula gives no 'y' made by N"),
    ],
)  # fmt: skip
def test_an_op_that_is_none_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "some.py"
    file.write_text(text)
    done = CliRunner().invoke(main, ["op", str(file)])
    assert done.exit_code == 2
    assert message in done.output
    assert done.output.count("\n") == 1


def test_the_page_of_ops_is_what_the_ops_say() -> None:
    assert (ROOT / "docs" / "ops.md").read_text(encoding="utf-8") == page()

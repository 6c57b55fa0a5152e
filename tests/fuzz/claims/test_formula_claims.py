"""Claims of ops that are formulas: forms, named sums, models, ops of your own; and such kernels on the cpu."""

from pathlib import Path

import numpy as np
import pytest
from layer_norm_claims import GOOD, LAYER_NORM, kernel_of

from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.cpu.device import CpuDevice


def test_a_claim_speaks_of_a_formulas_own_names(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, GOOD + '\n// shared = ["mean"]\n// operand = "tf32"')
    claimed = kernel.accuracy({"rows": 3, "cols": 40})
    assert claimed.adds == {"mean": 40, "var": 40}
    assert (claimed.form, claimed.shared, claimed.operand) == ("two pass", ("mean",), "tf32")
    assert claimed.functions["rsqrt"].a0 == 5


@pytest.mark.parametrize(
    ("accuracy", "message"),
    [
        ('// form = "three pass"', "moments folded, any is expected"),
        ('// adds = { sum = "cols" }', "the formula has no sum of this name; it has mean, var, *"),
        ('// adds = { mean = "-1" }', "a count is 0 or more"),
        ('// keep = { e = "f16" }', "the formula has no value of this name; it has none"),
        ('// functions = { tanh = "tanhf" }', "the formula has no function of this name; it has rsqrt"),
        ('// functions = { rsqrt = "fast" }', '"1 / sqrtf measured" or [units, absolute] is expected'),
        ('// shared = "mean"', 'a list of names is expected, such as ["mean", "var"]'),
        ('// operand = "f8"', "one of f16, bf16, tf32, e4m3, "),
    ],
)
def test_a_name_that_the_formula_lacks_is_a_mistake_of_the_claim(tmp_path: Path, accuracy: str, message: str) -> None:
    with pytest.raises(ClaimError) as error:
        kernel_of(tmp_path, accuracy)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("divisor", "is_right"), [("cols", True), ("(cols - 1)", False)])
def test_a_layer_norm_is_judged_on_the_cpu(tmp_path: Path, divisor: str, is_right: bool, device: CpuDevice) -> None:
    rng = np.random.default_rng(1)
    x, w, b = (rng.standard_normal(shape).astype("f4") for shape in ((5, 33), 33, 33))
    kernel = kernel_of(tmp_path, divisor=divisor)
    trial = run_trial(kernel, case_of("layer_norm", {"x": x, "w": w, "b": b}), {}, device, Probe(runs=2))
    assert trial.elements == 5 * 33
    assert (not trial.errors) == is_right, trial.errors


def test_an_op_of_ones_own_is_claimed_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(
        'INPUTS = {"x": "float[rows, cols]"}\nOUTPUTS = {"y": "float[rows, cols]"}\n'
        "def formula(N, x):\n    return x + x\n"
    )
    text = """// Twice x.
//
// /// kernel
// op     = "./twice.py"
// axes   = { rows = "1..100", cols = "1..100" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }
//
// [[launch]]
// entry = "twice"
// grid  = "rows"
// block = "32"
// args  = ["x", "y", "cols"]
// ///

extern "C" __global__ void twice(const float* x, float* y, int cols) {
    for (int col = threadIdx.x; col < cols; col += 32) y[blockIdx.x * cols + col] = 2.0f * x[blockIdx.x * cols + col];
}
"""
    (tmp_path / "twice.cu").write_text(text)
    kernel = load(tmp_path / "twice.cu")
    case = case_of(kernel.op, {"x": np.random.default_rng(2).standard_normal((3, 7)).astype("f4")})
    with CpuDevice() as device:
        assert not run_trial(kernel, case, {}, device, Probe(runs=2)).defects
    (tmp_path / "twice.cu").write_text(text.replace("./twice.py", "./thrice.py"))
    with pytest.raises(ClaimError, match="no such file"):
        load(tmp_path / "twice.cu")
    twice = (tmp_path / "twice.py").read_text()
    (tmp_path / "thrice.py").write_text(twice.replace("x + x", "{}['factor'] * x"))
    with pytest.raises(ClaimError, match=r"thrice.py:4: the formula cannot be worked out: KeyError: 'factor'"):
        load(tmp_path / "twice.cu")


CROSS_ENTROPY = """// cross_entropy in double, one thread a row.
//
// /// kernel
// op     = "cross_entropy"
// axes   = { rows = "1..1000", cols = "1..1000" }
// arrays = { x = "f64[rows, cols] -> x", labels = "i32[rows] -> labels", loss = "f64[rows] <- loss" }
//
// [[launch]]
// entry = "cross_entropy"
// grid  = "rows"
// block = "1"
// args  = ["x", "labels", "loss", "cols"]
// ///

extern "C" __global__ void cross_entropy(const double* x, const int* labels, double* loss, int cols) {
    const double* row = x + (size_t)blockIdx.x * cols;
    double top = row[0], sum = 0.0;
    for (int col = 1; col < cols; col++) top = fmax(top, row[col]);
    for (int col = 0; col < cols; col++) sum += exp(row[col] - top);
    loss[blockIdx.x] = log(sum) - (row[labels[blockIdx.x]] - top) WRONG;
}
"""


@pytest.mark.parametrize(("wrong", "is_right"), [("", True), (" + 1e-12", False)])
def test_doubles_and_labels_are_judged_as_the_kernel_holds_them(
    tmp_path: Path, wrong: str, is_right: bool, device: CpuDevice
) -> None:
    (tmp_path / "ce.cu").write_text(CROSS_ENTROPY.replace(" WRONG", wrong))
    kernel = load(tmp_path / "ce.cu")
    rng = np.random.default_rng(3)
    labels = np.array([3, -11, 0, np.nan], "f4")
    case = case_of("cross_entropy", {"x": rng.standard_normal((4, 9)).astype("f4"), "labels": labels})
    assert kernel.stored(case.arrays)["labels"].tolist() == [3, 2, 0, 0]
    trial = run_trial(kernel, case, {}, device, Probe(runs=2))
    assert trial.elements == 4
    assert (not trial.errors) == is_right, trial.errors


@pytest.mark.slow
def test_a_claims_scalars_take_the_place_of_the_ops_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x, w, b = (rng.standard_normal(shape).astype("f4") for shape in ((5, 33), 33, 33))
    file = tmp_path / "layer_norm.cu"
    text = LAYER_NORM.format(accuracy=GOOD, divisor="cols").replace("1e-5f", "0.25f")
    for scalars, is_right in (("{ eps = 0.25 }", True), ("{ eps = 0.26 }", False)):
        file.write_text(text.replace("// [accuracy]", f"// scalars = {scalars}\n//\n// [accuracy]"))
        kernel = load(file)
        with CpuDevice() as device:
            trial = run_trial(kernel, case_of("layer_norm", {"x": x, "w": w, "b": b}), {}, device, Probe(runs=2))
        assert (not trial.errors) == is_right
    file.write_text(text.replace("// [accuracy]", "// scalars = { epsilon = 1 }\n//\n// [accuracy]"))
    with pytest.raises(ClaimError, match="the formula has no scalar of this name; it has eps"):
        load(file)


@pytest.mark.slow
def test_a_launch_hands_a_scalar_over_by_its_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x, w, b = (rng.standard_normal(shape).astype("f4") for shape in ((5, 33), 33, 33))
    case = case_of("layer_norm", {"x": x, "w": w, "b": b})
    file = tmp_path / "layer_norm.cu"
    text = LAYER_NORM.format(accuracy=GOOD, divisor="cols").replace("1e-5f", "eps")
    text = text.replace("int cols)", "int cols, float eps)")
    assert text.count('"cols"]') == 1
    for scalars in ("{}", "{ eps = 0.25 }"):
        said = text.replace("// [accuracy]", f"// scalars = {scalars}\n//\n// [accuracy]")
        for name, is_right in (('"eps"', True), ("0.125", False)):
            file.write_text(said.replace('"cols"]', f'"cols", {name}]'))
            with CpuDevice() as device:
                trial = run_trial(load(file), case, {}, device, Probe(runs=2))
            assert (not trial.errors) == is_right, (scalars, name)
    file.write_text(text.replace('"cols"]', '"cols", "epsilon"]'))
    with pytest.raises(ClaimError, match=r"no literal; this claim has .*, eps;"):
        load(file)

"""A wrong question gets one error that names the value, what was expected, and what to do."""

from collections.abc import Callable

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, ExpModel, OracleError, Special, judge, op_names, want
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.verdict import AnswerError, Reason, Why

F4 = np.float32
X = np.zeros((2, 3), dtype=F4)
Y = X[:, 0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: judge("sofmax", {"x": X}, {"y": X}), "op='sofmax': unknown op, did you mean softmax?"),
        (lambda: judge("softmax", {"z": X}, {"y": X}), "softmax: inputs has z: expected x"),
        (lambda: judge("softmax", {}, {"y": X}), "softmax: inputs has nothing: expected x"),
        (lambda: judge("softmax", {"x": X}, {"out": X}), "softmax: got has out: expected y"),
        (
            lambda: judge("max_sum", {"x": X.astype("f8")}, {"m": Y, "s": Y}),
            "inputs['x'].dtype=float64: expected float32",
        ),
        (
            lambda: judge("row_max", {"x": X}, {"y": Y.astype("f2")}),
            "got['y'].dtype=float16: expected float32, as its input has, or a type that holds all its numbers",
        ),
        (lambda: judge("softmax", {"x": X.astype("i4")}, {"y": X}), "inputs['x'].dtype=int32: expected float32,"),
        (lambda: judge("softmax", {"x": [[1.0]]}, {"y": X}), "inputs['x'] is a list: expected a float32 array"),
        (
            lambda: judge("softmax", {"x": X[None]}, {"y": X}),
            "inputs['x'].shape=(1, 2, 3): expected [rows, cols] or [n]",
        ),
        (lambda: judge("softmax", {"x": X}, {"y": X[:1]}), "got['y'].shape=(1, 3): expected (2, 3)"),
        (lambda: judge("transpose", {"x": X}, {"y": X}), "got['y'].shape=(2, 3): expected (3, 2)"),
        (lambda: judge("sgemm", {"a": X, "b": X}, {"c": X}), "inputs['b'].shape=(2, 3): k is 2 here and 3 elsewhere"),
        (lambda: judge("row_max", {"x": X[:, :0]}, {"y": X[:, 0]}), "the max of an empty row is undefined"),
        (lambda: want("gemmm", {}), "op='gemmm': unknown"),
        (lambda: judge(None, {"x": X}, {"y": X}), "op=None: expected the name of an op"),
        (
            lambda: judge("softmax", {"x": X}, {"y": X}, Accuracy(adds={"row": 3})),
            "softmax: adds='row': expected sum or *",
        ),
        (
            lambda: judge("softmax", {"x": X}, {"y": X}, Accuracy(form="fast")),
            "softmax: form='fast': expected e / s or exp",
        ),
        (
            lambda: judge("rms_norm", {"x": X, "w": X[0]}, {"y": X}, scalars={"eps": float("nan")}),
            "scalars['eps']=nan: expected a finite",
        ),
        (
            lambda: judge("rms_norm", {"x": X, "w": X[0]}, {"y": X}, scalars={"eps": "0"}),
            "scalars['eps']='0': expected a finite",
        ),
        (lambda: want("softmax", {"x": X}, digits=0), "digits=0: expected an integer from 1 to 100000"),
        (lambda: want("softmax", {"x": X}, digits=10**12), "digits=1000000000000: expected"),
        (lambda: want("softmax", {"x": X}, digits="50"), "digits='50': expected"),
        (lambda: want("softmax", {"x": X[:, :0]}), "x has shape [2, 0]: expected at least one element"),
        (lambda: judge("softmax", X, {"y": X}), "softmax: inputs is a ndarray: expected a dict of arrays by x"),
        (lambda: judge("softmax", {"x": np.ma.masked_array(X)}, {"y": X}), "inputs['x'] is a MaskedArray: expected"),
        (lambda: judge("softmax", {"x": X}, {"y": X}, "tight"), "accuracy='tight': expected an oracle.Accuracy"),
        (lambda: judge("softmax", {"x": X}, {"y": X}, special=3), "special=3: expected an oracle.Special"),
    ],
)
def test_a_wrong_question_is_named(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(OracleError) as error:
        ask()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Accuracy(adds=-1), "adds=-1: expected a count of at least 0"),
        (lambda: Accuracy(rescales=-2), "rescales=-2"),
        (lambda: Accuracy(adds=1.5), "adds=1.5: expected a count"),
        (lambda: Accuracy(adds=True), "adds=True: expected a count"),
        (lambda: Accuracy(ftz="no"), "ftz='no': expected True or False"),
        (lambda: Accuracy(shift_slack=-1), "shift_slack=-1: expected 0 to 104"),
        (lambda: Accuracy(shift_slack=float("nan")), "shift_slack=nan"),
        (lambda: Accuracy(divide="exact"), "divide='exact': expected one of ieee, reciprocal, fast, fast reciprocal"),
        (lambda: Accuracy(accumulate="f8"), "accumulate='f8': expected one of f32, f64, compensated, f16, bf16, mma"),
        (lambda: Accuracy(denominator="column"), "denominator='column': expected one of row, element"),
        (lambda: Accuracy(exact_shift=True, shift_slack=1), "an exact shift has no slack"),
        (lambda: Accuracy(exp="__expf"), "exp='__expf': expected an ExpModel, such as EXPF"),
        (lambda: Accuracy(order="tree"), "order='tree': expected an Order"),
        (lambda: Special(nan="foo"), "nan='foo': expected one of None, row, ieee, ignore"),
        (lambda: Special(pos_inf=True), "pos_inf=True: expected one of"),
        (lambda: Special(all_neg_inf="inf"), "all_neg_inf='inf': expected one of None, nan, zero"),
        (lambda: Accuracy(shift="max"), "shift='max': expected one of any, running max, zero"),
        (lambda: Accuracy(shift="zero", shift_slack=80), "this shift has no slack"),
        (lambda: Accuracy(shift="zero", rescales=1), "shift='zero' with rescales=1: expected 0"),
        (lambda: ExpModel(0.5, 0), "expected a0 >= 1"),
        (lambda: ExpModel(5, -1), "kappa >= 0"),
        (lambda: ExpModel(float("inf"), 0), "at most 65536"),
    ],
)
def test_a_claim_that_cannot_be_is_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=r"expected|no slack") as error:
        make()
    assert message in str(error.value)


def test_a_verdict_is_no_truth_value_and_says_what_to_do() -> None:
    """`assert judge(...)` would hold for a broken answer."""
    verdict = judge("row_sum", {"x": X}, {"y": X.sum(axis=1) + 1})
    assert verdict.status == "broken"
    with pytest.raises(TypeError, match=r"neither true nor false \(this one: broken\): call verdict.check\(\)"):
        bool(verdict)


def test_check_is_for_what_is_kept() -> None:
    right = judge("row_sum", {"x": X}, {"y": X.sum(axis=1)})
    assert right.check() is right
    with pytest.raises(AnswerError, match=r"^broken: y\[\d+\] is .*, wanted .* in \[.*\]; "):
        judge("row_sum", {"x": X}, {"y": X.sum(axis=1) + 1}).check()
    nothing = {"x": np.full((1, 2), np.nan, "f4")}
    with pytest.raises(AnswerError, match=r"^not judged: 1 row with NaN"):
        judge("row_sum", nothing, {"y": np.zeros(1, "f4")}).check()


@pytest.mark.parametrize("op", op_names())
def test_arrays_of_no_elements_are_an_error_or_not_judged_and_never_a_crash(op: str) -> None:
    module = find(op)
    names = sorted({name for role in module.inputs.values() for name in role.dimensions})
    for zero in names:
        sizes = {name: 0 if name == zero else 2 for name in names}
        arrays, got = (
            {name: np.zeros([sizes.get(d, 1) for d in role.dimensions], "f4") for name, role in table.items()}
            for table in (module.inputs, module.outputs)
        )
        try:
            verdict = judge(op, arrays, got)
        except OracleError:
            continue
        if not any(array.size for array in got.values()):
            assert (verdict.status, verdict.reasons) == ("not judged", (Reason(Why.NO_ELEMENTS),))

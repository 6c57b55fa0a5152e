"""The rules for torch's operations, each as text over exact numbers, and against torch where it is there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kfuzz.claims.references import serving
from kfuzz.claims.references.aten.table import write_operation
from kfuzz.claims.references.aten.term import HELPERS, Term, Writer
from kfuzz.claims.references.references import TRACER
from kfuzz.oracle import Accuracy, judge
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.words import normalizing, ordering, recurrent, sliding

Numbers = NDArray[Any]
RNG = np.random.default_rng(4)
X = RNG.standard_normal((2, 4, 5, 6))
W = RNG.standard_normal((6, 2, 3, 2))


def term(name: str, x: Numbers) -> Term:
    return Term(name, tuple(map(str, x.shape)), is_mask=x.dtype.kind in "ib")


def run(op: str, *args: Any, shape: tuple[int, ...] = (), results: int = 0, **options: Any) -> list[Numbers]:  # noqa: ANN401
    """The results of an operation by its rule; arrays among the operands are tensors."""
    held: dict[str, Numbers] = {}

    def given_of(one: Any) -> Any:  # noqa: ANN401  an operand, or a list of them
        if isinstance(one, list):
            return [given_of(each) for each in one]
        if not isinstance(one, np.ndarray):
            return one
        held[f"t{len(held)}"] = one
        return term(f"t{len(held) - 1}", one)

    given = [given_of(one) for one in args]
    to = Writer({})
    if results:
        options["results"] = [tuple(map(str, shape))] * results
    made = write_operation(to, op, "made", given, options, tuple(map(str, shape)))
    assert made is not None
    N = Exact({}, "two pass, plain")
    space: dict[str, Any] = {"N": N, "np": np}
    for module in (normalizing, ordering, sliding):
        space |= {name: getattr(module, name) for name in HELPERS[module.__name__]}
    space |= {name: N.input(one) if one.dtype.kind == "f" else one for name, one in held.items()}
    for name, text in to.lines:
        space[name] = eval(text, space)  # noqa: S307  the text of our own rule
    every = [space[one.text] for one in (made if isinstance(made, list) else [made])]
    return [one if isinstance(one, np.ndarray) else np.asarray(one.x, dtype=np.float64) for one in every]


def test_a_convolution_has_strides_padding_dilation_and_groups() -> None:
    (y,) = run("convolution", X, W, None, [2, 1], [1, 0], [1, 2], False, [0, 0], 2, shape=(2, 6, 3, 4))
    wide = np.pad(X, ((0, 0), (0, 0), (1, 1), (0, 0)))
    want = np.zeros((2, 6, 3, 4))
    for i, j, f in np.ndindex(3, 4, 6):
        part = wide[:, f // 3 * 2 : f // 3 * 2 + 2, 2 * i : 2 * i + 3, j : j + 3 : 2]
        want[:, f, i, j] = (part * W[f]).sum(axis=(1, 2, 3))
    assert np.allclose(y, want, rtol=1e-12)


def test_a_transposed_convolution_is_the_convolutions_transpose() -> None:
    w = W.reshape(4, 3, 3, 2)
    (y,) = run("convolution", X, w, None, [2, 2], [1, 0], [1, 1], True, [1, 0], 1, shape=(2, 3, 10, 12))
    z = RNG.standard_normal(y.shape)
    (back,) = run("convolution", z, w, None, [2, 2], [1, 0], [1, 1], False, [0, 0], 1, shape=X.shape)
    assert np.isclose((y * z).sum(), (back * X).sum(), rtol=1e-12)


def test_pools_may_reach_beyond_the_end() -> None:
    most, at = run("max_pool2d_with_indices", X, [2, 3], [2, 3], [0, 0], [1, 1], False, shape=(2, 4, 2, 2))
    parts = X[:, :, :4].reshape(2, 4, 2, 2, 2, 3)
    assert (most == parts.max(axis=(3, 5))).all()
    assert (np.take_along_axis(X.reshape(2, 4, -1), at.astype(int).reshape(2, 4, -1), 2).ravel() == most.ravel()).all()
    (most,) = run("max_pool2d_with_indices", X, [2, 3], [2, 3], [0, 0], [1, 1], True, shape=(2, 4, 3, 2))
    assert (most[:, :, 2] == X[:, :, 4].reshape(2, 4, 2, 3).max(axis=-1)).all()
    for ceil, counts, last in ((True, True, 3), (True, False, 3), (False, True, 6)):
        if ceil and not counts:
            continue  # of the taps beyond an end some are in the padding: not written yet
        (mean,) = run("avg_pool2d", X, [2, 3], [2, 3], [0, 0], ceil, counts, shape=(2, 4, 2 + ceil, 2))
        assert np.allclose(mean[:, :, 0, 0], X[:, :, :2, :3].mean(axis=(2, 3)))
        if ceil:
            assert np.allclose(mean[:, :, 2, 0], X[:, :, 4:, :3].sum(axis=(2, 3)) / last)


def test_parts_of_an_adaptive_pool_have_a_greatest_place() -> None:
    most, at = run("adaptive_max_pool2d", X, [2, 3], shape=(2, 4, 2, 3))
    rows, columns = X.shape[2:]
    for i, j in np.ndindex(2, 3):
        across = slice(j * columns // 3, -(-(j + 1) * columns // 3))
        part = X[:, :, i * rows // 2 : -(-(i + 1) * rows // 2), across]
        assert (most[:, :, i, j] == part.max(axis=(2, 3))).all()
    picked = np.take_along_axis(X.reshape(2, 4, -1), at.astype(int).reshape(2, 4, -1), 2)
    assert (picked.ravel() == most.ravel()).all()


def test_norms_have_the_moments_of_their_axes() -> None:
    w, b = RNG.standard_normal((2, 4))
    side = (slice(None), None, None)

    def normed(axes: tuple[int, ...], x: Numbers = X) -> Numbers:
        return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + 1e-3)

    (y,) = run("native_batch_norm", X, w, b, None, None, True, 0.1, 1e-3, shape=X.shape)
    assert np.allclose(y, normed((0, 2, 3)) * w[side] + b[side])
    (y,) = run("native_group_norm", X, w, None, 2, 4, 30, 2, 1e-3, shape=X.shape)
    grouped = normed((2, 3, 4), X.reshape(2, 2, 2, 5, 6)).reshape(X.shape)
    assert np.allclose(y, grouped * w[side])
    (y,) = run("native_layer_norm", X, [5, 6], None, None, 1e-3, shape=X.shape)
    assert np.allclose(y, normed((2, 3)))
    mean, var = w, b * b + 1
    (y,) = run("_native_batch_norm_legit_no_training", X, None, None, mean, var, 0.1, 1e-3, shape=X.shape)
    assert np.allclose(y, (X - mean[side]) / np.sqrt(var[side] + 1e-3))


def test_moves() -> None:
    assert (run("flip", X, [1, 3], shape=X.shape)[0] == X[:, ::-1, :, ::-1]).all()
    assert (run("roll", X, [2], [2], shape=X.shape)[0] == np.roll(X, 2, 2)).all()
    assert (run("roll", X, [-1, 1], [0, 3], shape=X.shape)[0] == np.roll(X, (-1, 1), (0, 3))).all()
    assert (run("repeat", X, [2, 1, 1, 3, 2], shape=(2, 2, 4, 15, 12))[0] == np.tile(X, (2, 1, 1, 3, 2))).all()
    padded = np.pad(X[:, :, :, 1:], ((0, 0), (0, 0), (2, 0), (0, 1)), constant_values=7)
    assert (run("constant_pad_nd", X, [-1, 1, 2, 0], 7.0, shape=padded.shape)[0] == padded).all()
    pieces = run("split", X, 2, 1, shape=(2, 2, 5, 6), results=2)
    assert all((one == X[:, 2 * n : 2 * n + 2]).all() for n, one in enumerate(pieces))
    assert all((one == X[:, :, n]).all() for n, one in enumerate(run("unbind", X, 2, shape=(2, 4, 6), results=5)))
    index = RNG.integers(0, 5, (2, 3, 2, 6))
    assert (run("gather", X, 2, index, shape=index.shape)[0] == np.take_along_axis(X[:, :3], index, 2)).all()
    assert (run("cumprod", X, 1, shape=X.shape)[0] == np.cumprod(X, 1)).all()
    assert (run("argmin", X, 1, shape=(2, 5, 6))[0][..., 0] == X.argmin(1)).all()
    windows = np.lib.stride_tricks.sliding_window_view(X, 2, 1)[:, ::2]
    assert (run("unfold", X, 1, 2, 2, shape=windows.shape)[0] == windows).all()


def test_0_log_0_is_0_and_beside_a_nan_it_is_nan() -> None:
    x = np.array([[0.0, 0.0, 0.0, 0.0, 2.0, 2.0, np.nan]])
    y = np.array([[0.0, 3.0, np.inf, -1.0, 3.0, 0.0, 1.0]])
    assert run("xlogy", x, y, shape=x.shape)[0].tolist()[0][:6] == [0, 0, 0, 0, 2 * np.log(3), -np.inf]
    assert run("special_xlog1py", x, y - 1, shape=x.shape)[0].tolist()[0][:6] == [0, 0, 0, 0, 2 * np.log(3), -np.inf]
    assert np.isnan(run("xlogy", x, y, shape=x.shape)[0][0, 6])
    assert np.isnan(run("xlogy", x[:, :1], x[:, 6:], shape=(1, 1))[0]).all()
    assert run("xlogy", 0.0, y, shape=y.shape)[0].tolist() == [[0] * 7]
    assert run("xlogy", x[:, 3:5], 0.0, shape=(1, 2))[0].tolist() == [[0, -np.inf]]
    (column,) = run("xlogy", x[:, :2].T, y[:, :4], shape=(2, 4))
    assert column.tolist() == [[0] * 4] * 2
    negative = np.array([[0.0, 0.5, -0.5, np.inf, -np.inf]])
    entropy = run("special_entr", negative, shape=negative.shape)[0].tolist()[0]
    assert entropy == [0, np.log(2) / 2, -np.inf, -np.inf, -np.inf]


def test_topk_has_the_values_in_order() -> None:
    x = X[0, 0]
    down, up = -np.sort(-x), np.sort(x)
    assert (run("topk", x, 2, shape=(5, 2))[0] == down[:, :2]).all()
    assert (run("topk", x, 3, -1, False, True, shape=(5, 3))[0] == up[:, :3]).all()
    assert write_operation(Writer({}), "topk", "made", [term("x", x), 2, -1, True, False], {}, ("5", "2")) is None


def test_integers_and_truths_stay_what_they_are() -> None:
    i, true = RNG.integers(0, 4, (2, 4)), np.ones((2, 1, 1), bool)
    assert (run("add", i, 2, shape=(2, 4), dtype="int")[0] == i + 2).all()
    assert (run("mul", i, i, shape=(2, 4), dtype="int")[0] == i * i).all()
    assert (run("slice", i, 1, 1, 3, shape=(2, 2))[0] == i[:, 1:3]).all()
    assert (run("select", i, 1, 3, shape=(2,))[0] == i[:, 3]).all()
    assert (run("t", i, shape=(4, 2))[0] == i.T).all()
    assert (run("expand", i, [3, 2, 4], shape=(3, 2, 4))[0] == np.stack([i] * 3)).all()
    assert (run("gather", i, 1, i, shape=i.shape)[0] == np.take_along_axis(i, i, 1)).all()
    assert (run("index", i, [i[:, :1] % 2, i], shape=i.shape)[0] == i[i[:, :1] % 2, i]).all()
    assert (run("index", X, [i[:, :1] % 2, i], shape=(2, 4, 5, 6))[0] == X[i[:, :1] % 2, i]).all()
    assert (run("new_ones", i, [2, 1], shape=(2, 1), dtype="bool")[0] == np.ones((2, 1), bool)).all()
    assert run("scalar_tensor", -1.5, shape=())[0] == -1.5
    assert (run("arange", 5, shape=(5,), dtype="int")[0] == np.arange(5)).all()
    assert (run("arange", 2, 5, shape=(3,), dtype="int")[0] == np.arange(2, 5)).all()
    assert run("tril", true, shape=(2, 1, 1), dtype="bool")[0].all()
    seen = np.where(np.tril(np.ones((5, 5))) > 0, 0.0, X[0, 0, :, :5])
    assert (run("triu", X[0, 0, :, :5], 1, shape=(5, 5))[0] == seen).all()


def test_what_is_no_array_of_integers_has_no_rule_of_theirs() -> None:
    for op, args, dtype in (("arange", (0, 9, 2), "int"), ("arange", (5,), ""), ("index", ("i", [None, "i"]), "int")):
        given = [Term(one, ("5",), is_mask=True) if isinstance(one, str) else one for one in args]
        assert write_operation(Writer({}), op, "made", given, {"dtype": dtype} if dtype else {}, ("5",)) is None


def test_a_recurrent_network_has_layers_and_two_directions() -> None:
    x, h = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((4, 2, 3))
    weights = [RNG.standard_normal(shape) for way in (4, 4, 6, 6) for shape in ((3, way), (3, 3), (3,), (3,))]
    held = {f"t{place}": one for place, one in enumerate([x, h, *weights])}
    terms = [term(name, one) for name, one in held.items()]
    to = Writer({})
    every = {"results": [("2", "3", "6"), ("4", "2", "3")]}
    made = write_operation(to, "rnn_tanh", "made", [terms[0], [terms[1]], terms[2:], True, 2, True, True], every, ())  # type: ignore[arg-type,list-item,dict-item]
    assert isinstance(made, list)
    space: dict[str, Any] = {"N": Exact({}), "network": recurrent.network}
    space |= {name: Exact({}).input(one) for name, one in held.items()}
    for name, text in to.lines:
        space[name] = eval(text, space)  # noqa: S307  the text of our own rule
    y, last = (space[one.text].x for one in made)
    seen, ends = x, []
    for layer in (0, 1):
        outs = []
        for way in (0, 1):
            w, u, b, d = weights[4 * (2 * layer + way) :][:4]
            state, states = h[2 * layer + way], []
            for t in (range(3), range(2, -1, -1))[way]:
                state = np.tanh(seen[:, t] @ w.T + b + state @ u.T + d)
                states.append(state)
            outs.append(np.stack(states[:: 1 - 2 * way], axis=1))
            ends.append(state)
        seen = np.concatenate(outs, axis=-1)
    assert np.allclose(y, seen)
    assert np.allclose(last, np.stack(ends))
    space["N"] = N = Bands(Accuracy(keep={"made_all": "bf16"}), {})
    space |= {name: N.input(one) for name, one in held.items()}
    assert not np.any(np.isfinite(eval(to.lines[0][1], space)[0].lo))  # noqa: S307  the text of our own rule


def test_a_model_forgets_the_state_that_it_keeps_for_its_next_call() -> None:
    torch = pytest.importorskip("torch")
    declared = pytest.importorskip("kfuzz.claims.references.torch.declared")

    class Counting(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch is not there where types are checked
        def __init__(self) -> None:
            super().__init__()
            self.state = torch.zeros(2)
            self.register_buffer("seen", torch.zeros(2))

        def forward(self, x: Any) -> Any:  # noqa: ANN401  tensors
            self.state, self.seen = self.state + x, self.seen + 2 * x
            return torch.stack([self.state, self.seen.view(2)])

    model, x = declared.forgetful(Counting()), torch.ones(2)
    first = model(x)
    with pytest.raises(RuntimeError):
        model(torch.ones(3))
    assert torch.equal(model(x), first)


TRACED = {
    "conv_net": ("x", "F.max_pool2d(F.relu(F.conv2d(x, W, B, 2, 1)), 2)", {"x": ["batch", "4", "h", "w"]}),
    "transposed": ("x", "F.conv_transpose2d(x, W, None, 2, 1, 1)", {"x": ["batch", "6", "h", "w"]}),
    "group_norm": ("x", "F.group_norm(x, 2)", {"x": ["batch", "4", "places"]}),
    "batch_norm": ("x", "F.batch_norm(x, None, None, training=True)", {"x": ["batch", "channels", "places"]}),
    "joined": ("x, z", "torch.cat([x, z.flip(0)], 0).cumsum(0)", {"x": ["rows", "cols"], "z": ["others", "cols"]}),
    "pooled": ("x", "F.avg_pool1d(x, 3, 2, 1, ceil_mode=True)", {"x": ["batch", "channels", "places"]}),
    "adaptive": (
        "x", "F.adaptive_avg_pool2d(x, (2, 3)) + F.adaptive_max_pool2d(x, (2, 3))", {"x": ["n", "channels", "h", "w"]}
    ),
    "stacked": (  # by a number that is another one in double
        "x", "torch.stack(torch.chunk(x, 3, -1), 1) * torch.tensor([0.2989], dtype=x.dtype)", {"x": ["rows", "12"]}
    ),
    "losses": ("x, t", "F.mse_loss(x, t) + F.huber_loss(x, t) + F.l1_loss(x, t)", {"x": ["n"], "t": ["n"]}),
    "logits": ("x, t", "F.binary_cross_entropy_with_logits(x, t)", {"x": ["n", "m"], "t": ["n", "m"]}),
    "places": ("x", "x.max(1)", {"x": ["rows", "cols"]}),
    "masked": ("x", "x.masked_fill(T[: x.shape[0], : x.shape[1]] == 0, -9.0).exp()", {"x": ["rows", "cols"]}),
    "gru": ("x, h", "G(x, h)[0]", {"x": ["steps", "rows", "4"], "h": ["4", "rows", "3"]}),
    "lstm": ("x, h, c", "L(x, (h, c))[1]", {"x": ["rows", "n", "4"], "h": ["1", "rows", "3"], "c": ["1", "rows", "3"]}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACED)
def test_a_traced_reference_is_inside_its_own_formula(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    parameters, text, inputs = TRACED[name]
    source = (
        "import torch\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
        "W, B, T = torch.randn(6, 4, 3, 3), torch.randn(6), torch.tril(torch.ones(40, 40))\n"
        "G, L = torch.nn.GRU(4, 3, 2, bidirectional=True), torch.nn.LSTM(4, 3, bias=False, batch_first=True)\n"
        f"def reference({parameters}):\n    return {text}\n"
    )
    file = tmp_path / "theirs.py"
    file.write_text(source)
    axes = {size: (9, 20, 1) for dims in inputs.values() for size in dims if not size.isdigit()}
    question = {
        "path": str(file), "source": source, "reference": "reference", "inputs": inputs, "axes": axes, "title": name,
        "task": "",
    }  # fmt: skip
    (tmp_path / "question.json").write_text(json.dumps(question))
    serving.ask(TRACER, tmp_path)
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer.get("unknown") == [], answer
    op = tmp_path / "op.py"
    op.write_text(answer["formula"])
    with np.load(tmp_path / "arrays.npz") as held:
        arrays = dict(held)
    np.savez(
        op.with_suffix(".npz"), **{k.removeprefix("constant "): a for k, a in arrays.items() if k[:8] == "constant"}
    )
    for kind, dtype in (("single", "f4"), ("double", "f8")):
        given = {k.removeprefix("input 1 "): a.astype(dtype) for k, a in arrays.items() if k.startswith("input 1 ")}
        got = {k.removeprefix(f"{kind} 1 "): a for k, a in arrays.items() if k.startswith(f"{kind} 1 ")}
        if not got:
            continue
        verdict = judge(str(op), given, got)
        assert verdict.status == "kept"
        assert verdict.judged == sum(one.size for one in got.values())
        first = next(iter(got))
        wrong = {**got, first: np.asarray(got[first] + 1, got[first].dtype)}
        assert judge(str(op), given, wrong).status == "broken"

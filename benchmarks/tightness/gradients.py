"""Gradients beside torch's own on a CPU: the derived ones by autograd, and those from saved values by its kernels.

    python -m benchmarks.tightness measure gradients [--jobs 1]

In float64 both must agree; torch's answers in float32 and bfloat16 must be inside. The half width is that of the bounds
in float32, in units of 2^-24 of the element, or of a thousandth of the largest: the median over all elements.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812  its own documentation calls it so

from benchmarks.measurement import Figures, Record
from benchmarks.tightness.gradient_inputs import inputs_for
from kfuzz.oracle import Accuracy, Special
from kfuzz.oracle.accuracy.rounding import FunctionModel
from kfuzz.oracle.bounds.question import enclose
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BF16, F32, values
from kfuzz.oracle.op.op import Op
from kfuzz.oracle.op.spelling import in_own_arrays

Numbers = NDArray[Any]
Tensors = dict[str, Any]
NO_GRADIENT = {
    "weighted_cross_entropy": ("w",), "nll_loss": ("w",), "batch_norm": ("mean", "var"), "kl_div_loss": ("t",),
    "bce_loss": ("t",),
}  # fmt: skip
"""Inputs by which torch's own function has no gradient."""
ROWS, COLS, U = 64, 65, F32.u
SEEDS, SIZE = 8, 9


def attended(q: Any, k: Any, v: Any) -> Any:  # noqa: ANN401  tensors
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "cross_entropy": lambda x, labels: F.cross_entropy(x, labels, reduction="none"),
    "weighted_cross_entropy": F.cross_entropy, "nll_loss": F.nll_loss,
    "mse_loss": F.mse_loss, "l1_loss": F.l1_loss, "smooth_l1_loss": F.smooth_l1_loss, "huber_loss": F.huber_loss,
    "bce_loss": F.binary_cross_entropy, "bce_with_logits_loss": F.binary_cross_entropy_with_logits,
    "kl_div_loss": lambda x, t: F.kl_div(x, t, reduction="sum") / x.numel(),
    "triplet_margin_loss": F.triplet_margin_loss,
    "cosine_embedding_loss": lambda a, b, labels: F.cosine_embedding_loss(a, b, 2 * labels - 1),
    "layer_norm": lambda x, w, b: F.layer_norm(x, w.shape, w, b, 1e-5),
    "rms_norm": lambda x, w: F.rms_norm(x, w.shape, w, 1e-6),
    "batch_norm": F.batch_norm,
    "group_norm": lambda x, w, b: F.group_norm(
        x.flatten(1, 2), x.shape[1], w.flatten(), b.flatten(), 1e-5
    ).reshape(x.shape),
    "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "swiglu": lambda a, b: F.silu(a) * b,
    "attention": attended, "sgemm": lambda a, b: a @ b,
    "row_sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "variance": lambda x: x.var(-1, correction=0),
    "l2_norm": lambda x: x.norm(dim=-1), "prefix_sum": lambda x: x.cumsum(-1), "cumprod": lambda x: x.cumprod(-1),
    "embedding": lambda index, w: w[index], "gather": lambda x, index: x.gather(1, index),
    "index_select": lambda x, index: x[:, index],
    "index_add": lambda into, index, values: into.index_add(0, index, values),
    "scatter_add": lambda into, index, values: into.scatter_add(1, index, values),
    "conv2d": F.conv2d, "conv1d": F.conv1d, "conv_transpose1d": F.conv_transpose1d,
    "max_pool1d": lambda x: F.max_pool1d(x, 2), "avg_pool1d": lambda x: F.avg_pool1d(x, 2),
    "where": lambda mask, a, b: torch.where(mask != 0, a, b),
    "upsample_bilinear2d": lambda x: F.interpolate(x[None], scale_factor=2, mode="bilinear")[0],
}  # fmt: skip
"""The ops of the catalogue as torch has them, by their inputs in the op's order."""
CLAIMS = {"gelu": Accuracy(functions={"erf": FunctionModel(1.0, 5 * U)})}
"""What is true of torch on a CPU, where it is not what CUDA documents: its erf inside gelu errs absolutely."""


def by_autograd(name: str, given: dict[str, Numbers], g: Numbers) -> dict[str, Numbers]:
    """The gradients that torch gives, in the type of the inputs."""
    op = find(name)
    fixed = NO_GRADIENT.get(name, ())
    wanted = [role for role, one in op.inputs.items() if one.is_float and role not in fixed]
    leaves = {role: torch.from_numpy(a.copy()).requires_grad_(role in wanted) for role, a in given.items()}
    y = FUNCTIONS[name](*leaves.values())
    made = torch.autograd.grad(y, [leaves[role] for role in wanted], torch.from_numpy(g).reshape(y.shape))
    return {f"d_{role}": one.numpy() for role, one in zip(wanted, made, strict=True)}


def apart_in_double(name: str, seed: int) -> float:
    """How far the derived gradients are from torch's in float64, of the largest element or of 1."""
    op = find(name)
    given, upstream = inputs_for(op, seed)
    made = find(f"backward of {name}").compute({**given, **upstream}, {})
    exact = by_autograd(name, given, upstream[f"g_{next(iter(op.outputs))}"])
    off = [
        np.abs(made[role] - one).max(initial=0) / max(1.0, np.abs(one).max(initial=0)) for role, one in exact.items()
    ]
    return float(max(off))


@dataclass
class Measured:
    """Elements of torch's answers, those outside, and how the bounds lie to them."""

    elements: int = 0
    outside: int = 0
    worst: float = 0.0
    widths: list[Numbers] = field(default_factory=list)

    def add(self, op: Op, given: dict[str, Numbers], answers: dict[str, Numbers], claim: Accuracy) -> None:
        """Hold answers against the bounds; only the gradients that torch gives."""
        own, asked, got = in_own_arrays(op, given, answers)
        stored = {role: BF16 if one.dtype == np.uint16 else F32 for role, one in got.items()}
        for role, one in enclose(own, asked, claim, Special(nan="ieee", pos_inf="ieee"), {}, stored).items():
            x = values(got[role])
            inside = (x >= one.lo) & (x <= one.hi) | ~one.judged
            bound, error = np.where(x >= one.want, one.hi - one.want, one.want - one.lo), np.abs(x - one.want)
            self.elements += int(one.judged.sum())
            self.outside += int((~inside).sum())
            self.worst = max(self.worst, float(np.max(np.where(error > 0, error / bound, 0)[one.judged], initial=0.0)))
            size = np.abs(one.want) + 1e-3 * np.max(np.abs(one.want), initial=0.0) + 1e-300
            self.widths.append(((one.hi - one.lo) / 2 / size / U).ravel())

    @property
    def width(self) -> float:
        return float(np.median(np.concatenate(self.widths)))

    def record(self) -> Record:
        return {"elements": self.elements, "outside": self.outside, "worst": self.worst, "width": self.width}


def derived_in_single(name: str) -> Measured:
    """torch's gradients in float32 by the bounds of the derived ones."""
    found, op = Measured(), find(f"backward of {name}")
    for seed in range(SEEDS):
        given, upstream = inputs_for(find(name), seed, SIZE)
        floats = {
            role: one.astype(np.float32) if op.inputs[role].is_float else one
            for role, one in {**given, **upstream}.items()
        }
        exact = {role: one.astype(np.float32) for role, one in op.compute(floats, {}).items()}
        got = by_autograd(name, {role: floats[role] for role in given}, floats[next(iter(upstream))])
        found.add(op, floats, exact | got, CLAIMS.get(name, Accuracy()))
    return found


A = torch.ops.aten


# Each gives the inputs and the answers of torch's kernel, and the inputs of the derived gradient.


def saved_layer_norm(at: Any, mean: float) -> tuple[Tensors, Tensors, Tensors]:  # noqa: ANN401  an element type
    x, g, w, b = (torch.randn(shape).to(at) for shape in ((ROWS, COLS), (ROWS, COLS), COLS, COLS))
    x = x + mean
    _, m, r = A.native_layer_norm(x, [COLS], w, b, 1e-5)
    made = A.native_layer_norm_backward(g, x, [COLS], m, r, w, b, [True] * 3)
    given = {"x": x, "mean": m.reshape(-1), "rstd": r.reshape(-1), "w": w, "g": g}
    return given, dict(zip(("dx", "dw", "db"), made, strict=True)), {"x": x, "w": w, "b": b, "g_y": g}


def saved_batch_norm(at: Any, mean: float) -> tuple[Tensors, Tensors, Tensors]:  # noqa: ANN401  an element type
    x, g, w = (torch.randn(shape).to(at) for shape in ((8, 16, 33), (8, 16, 33), 16))
    x = x + mean
    _, m, r = A.native_batch_norm(x, w, None, None, None, True, 0.1, 1e-5)
    made = A.native_batch_norm_backward(g, x, w, None, None, m, r, True, 1e-5, [True] * 3)
    none, given = torch.zeros(16), {"x": x, "mean": m, "rstd": r, "w": w, "g": g}
    running = {"running_mean": none, "running_var": none, "b": none, "g_running_mean": none, "g_running_var": none}
    return given, dict(zip(("dx", "dw", "db"), made, strict=True)), {"x": x, "w": w, "g_y": g, **running}


def saved_softmax(at: Any, mean: float) -> tuple[Tensors, Tensors, Tensors]:  # noqa: ANN401  an element type
    x, g = (torch.randn(ROWS, COLS).to(at) for _ in range(2))
    x = x + mean
    y = torch.softmax(x, -1)
    return {"y": y, "g": g}, {"dx": A._softmax_backward_data(g, y, -1, at)}, {"x": x, "g_y": g}


def saved_attention(at: Any, mean: float) -> tuple[Tensors, Tensors, Tensors]:  # noqa: ANN401  an element type
    q, k, v, g = (torch.randn(1, 4, n, 16).to(at) for n in (33, 40, 40, 33))
    v = v + mean
    o, lse = A._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, False)
    made = A._scaled_dot_product_flash_attention_for_cpu_backward(g, q, k, v, o, lse, 0.0, False)
    given = {name: one[0] for name, one in {"q": q, "k": k, "v": v, "o": o, "lse": lse, "g": g}.items()}
    plain = {"q": q[0], "k": k[0], "v": v[0], "g_o": g[0]}
    return given, {name: one[0] for name, one in zip(("dq", "dk", "dv"), made, strict=True)}, plain


SAVED = {
    "layer_norm": saved_layer_norm, "batch_norm_train": saved_batch_norm, "softmax": saved_softmax,
    "attention": saved_attention,
}  # fmt: skip
IN_BFLOAT16 = {
    "layer_norm": Accuracy(accumulators={"dw": "bf16", "db": "bf16"}),  # of a thread, in the tensor's own type
    "attention": Accuracy(keep={"p": "bf16", "ds": "bf16"}),
}


def as_array(one: Any) -> Numbers:  # noqa: ANN401  a tensor
    one = one.detach().contiguous()
    made: Numbers = one.view(torch.uint16).numpy() if one.dtype == torch.bfloat16 else one.numpy()
    return made


def saved_in(name: str, at: Any, mean: float) -> Record:  # noqa: ANN401  an element type
    """torch's own kernel for a gradient, from what its forward pass has saved; and the widths of other bounds."""
    found, named, other = Measured(), Measured(), Measured()
    claim = IN_BFLOAT16.get(name, Accuracy()) if at == torch.bfloat16 else Accuracy()
    own, derived = find(f"{name.removesuffix('_train')}_backward"), find(f"backward of {name}")
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        given, made, plain = ({role: as_array(one) for role, one in each.items()} for each in SAVED[name](at, mean))
        found.add(own, given, made, claim)
        named.add(own, given, made, replace(claim, form=own.forms[0]))
        if at == torch.float32:
            answers = {role: one.astype(np.float32) for role, one in derived.compute(plain, {}).items()}
            other.add(derived, plain, answers, Accuracy())
    return {**found.record(), "named": named.width, "derived": other.width if other.widths else None}


def derived_of(name: str) -> Record:
    """A derived gradient beside torch's, in double and in single precision."""
    return {
        "op": name, "apart": max(apart_in_double(name, seed) for seed in range(3)), **derived_in_single(name).record(),
    }  # fmt: skip


def saved_of(asked: tuple[str, str, float]) -> Record:
    """A gradient from saved values, of an op, in a type, at inputs with a mean."""
    name, at, mean = asked
    return {"op": name, "type": at, "mean": mean, **saved_in(name, getattr(torch, at), mean)}


def begin() -> None:
    """What each process does first."""
    np.seterr(all="ignore")
    torch.set_num_threads(1)


def measure(arguments: Sequence[str]) -> Figures:
    """Measure the derived gradients, and those from saved values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    asked = [(name, at, mean) for name in SAVED for at in ("float32", "bfloat16") for mean in (0.0, 5.0)]
    with ProcessPoolExecutor(parser.parse_args(arguments).jobs, get_context("spawn"), begin) as pool:
        saved = pool.map(saved_of, reversed(asked))  # attention's first: they take longest
        derived = list(pool.map(derived_of, FUNCTIONS))
        return Figures({"torch": torch.__version__}, {"derived": derived, "saved": [*saved][::-1]})

"""Functions that are left out, or another function in their place; other bounds, masks and arguments."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from kfuzz.claims.references.torch.twins.calls import CallChange, TorchCall

F = torch.nn.functional
IN_PLACE_OF = {
    "gelu": ("silu", "relu"), "silu": ("gelu", "relu", "sigmoid"), "relu": ("gelu", "abs"), "sigmoid": ("tanh", "silu"),
    "tanh": ("sigmoid",), "exp": ("exp2", "expm1"), "exp2": ("exp",), "log": ("log2", "log1p", "log10"),
    "log2": ("log",), "sqrt": ("rsqrt",), "rsqrt": ("sqrt", "reciprocal"), "reciprocal": ("rsqrt",),
    "floor": ("round", "ceil", "trunc"), "ceil": ("floor", "round"), "round": ("floor", "trunc", "ceil"),
    "trunc": ("floor", "round"), "sin": ("cos",), "cos": ("sin",), "log1p": ("log",), "expm1": ("exp",),
    "leaky_relu": ("relu",), "elu": ("relu",), "mish": ("silu",), "softplus": ("relu",), "hardswish": ("silu",),
    "hardsigmoid": ("sigmoid",), "maximum": ("minimum",), "minimum": ("maximum",), "erf": ("tanh",),
    "softmax": ("log_softmax",), "log_softmax": ("softmax",),
}  # fmt: skip
"""Functions that are taken for one another."""
SAME_ARGUMENTS = ("softmax", "log_softmax", "maximum", "minimum")
"""Those whose other arguments the other function has, too."""
ALONE = ("abs", "neg", "square", "clamp", "clip", "clamp_min", "clamp_max", "tril", "triu", "flip", "roll", "t",
         "transpose", "softmax", "masked_fill", "normalize", "softcap")  # fmt: skip
"""Further functions that may be left out."""
MASKS = ("masked_fill", "where", "tril", "triu")
SWITCHES = {
    "gelu": ("approximate", ("none", "tanh")), "topk": ("largest", (True, False)),
    "sort": ("descending", (False, True)), "argsort": ("descending", (False, True)),
    "scaled_dot_product_attention": ("is_causal", (False, True)),
    "cross_entropy": ("reduction", ("mean", "sum")), "mse_loss": ("reduction", ("mean", "sum")),
    "nll_loss": ("reduction", ("mean", "sum")), "kl_div": ("reduction", ("mean", "batchmean", "sum")),
    "l1_loss": ("reduction", ("mean", "sum")), "smooth_l1_loss": ("reduction", ("mean", "sum")),
    "binary_cross_entropy": ("reduction", ("mean", "sum")), "var": ("unbiased", (True, False)),
    "std": ("unbiased", (True, False)),
}  # fmt: skip
"""An argument and its values, the usual one first."""
PARTS = {
    "linear": ((2, "bias"),), "conv1d": ((2, "bias"),), "conv2d": ((2, "bias"),), "conv3d": ((2, "bias"),),
    "layer_norm": ((2, "weight"), (3, "bias")), "rms_norm": ((2, "weight"),),
    "group_norm": ((2, "weight"), (3, "bias")),
    "batch_norm": ((3, "weight"), (4, "bias")), "scaled_dot_product_attention": ((3, "attn_mask"),),
    "cross_entropy": ((2, "weight"),), "addmm": (),
}  # fmt: skip
EPS = {"layer_norm": 4, "rms_norm": 3, "group_norm": 4, "batch_norm": 7, "instance_norm": 8, "normalize": 3}
OTHER_EPS = (0.0, 1e-3, 1e-5, 1e-6, 1e-8, 1e-12)


def other_function(call: TorchCall) -> Iterator[CallChange]:
    """The function left out, or another one."""
    for other in IN_PLACE_OF.get(call.name, ()):
        kept = call if call.name in SAME_ARGUMENTS else TorchCall(call.func, [call.first], {})
        yield f"with {other} for {call.name}", partial(kept.by, other)
    if call.name not in ("maximum", "minimum"):
        yield f"without {call.name}", call.first.clone


def alone(call: TorchCall) -> Iterator[CallChange]:
    yield f"without {call.name}", call.first.clone


def switched(call: TorchCall) -> Iterator[CallChange]:
    """Another value of an argument."""
    name, values = SWITCHES[call.name]
    now = call.kwargs.get(name, values[0])
    for value in values:
        if value != now:
            yield f"with {name}={value!r}", partial(call.func, *call.args, **{**call.kwargs, name: value})


def without_part(call: TorchCall) -> Iterator[CallChange]:
    """An optional operand left out."""
    for place, name in PARTS[call.name]:
        if call.given(place, name) is not None:
            yield f"without its {name}", partial(call.with_other, place, None, name)


def other_eps(call: TorchCall) -> Iterator[CallChange]:
    """Another eps."""
    place = EPS[call.name]
    now = call.given(place, "eps")
    for eps in OTHER_EPS:
        if eps != (1e-5 if now is None else now):
            yield f"with eps={eps:g}", partial(call.with_other, place, eps, "eps")


def bounded(call: TorchCall) -> Iterator[CallChange]:
    """One bound of two left out."""
    low, high = call.given(1, "min"), call.given(2, "max")
    if low is not None and high is not None:
        yield "without its lower bound", lambda: torch.clamp(call.first, max=high)
        yield "without its upper bound", lambda: torch.clamp(call.first, min=low)


def other_mask(call: TorchCall) -> Iterator[CallChange]:
    """The opposite mask, or one that is off by one."""
    if call.name in ("tril", "triu"):
        now = call.given(1, "diagonal") or 0
        for step in (-1, 1):
            yield f"with diagonal={now + step}", partial(call.with_other, 1, now + step, "diagonal")
        return
    place = 0 if call.name == "where" else 1
    mask: Any = call.args[place] if len(call.args) > place else None
    if isinstance(mask, torch.Tensor) and mask.dtype == torch.bool and (place or len(call.args) > 2):
        yield "with the opposite mask", partial(call.with_other, place, ~mask, "mask")


def scaled(call: TorchCall) -> Iterator[CallChange]:
    """An attention whose scores are not scaled."""
    yield "with scale=1.0", lambda: call.func(*call.args, **{**call.kwargs, "scale": 1.0})


def together(*ways: Any) -> Any:  # noqa: ANN401  a way of several
    return lambda call: (change for way in ways for change in way(call))


_OF = {
    **{name: [other_function] for name in IN_PLACE_OF}, **{name: [alone] for name in ALONE if name not in IN_PLACE_OF}
}  # fmt: skip
for _names, _way in ((SWITCHES, switched), (PARTS, without_part), (EPS, other_eps), (MASKS, other_mask)):
    for _name in _names:
        _OF[_name] = [*_OF.get(_name, []), _way]
for _name in ("clamp", "clip"):
    _OF[_name] = [*_OF[_name], bounded]
_OF["scaled_dot_product_attention"].append(scaled)
WAYS = {name: together(*ways) for name, ways in _OF.items()}

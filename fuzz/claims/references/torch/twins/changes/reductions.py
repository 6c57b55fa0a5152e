"""Reductions of another kind, or along another axis."""

from collections.abc import Iterator
from functools import partial

import torch

from kfuzz.claims.references.torch.twins.calls import CallChange, TorchCall

OTHER = {
    "sum": ("mean",), "mean": ("sum",), "amax": ("amin",), "amin": ("amax",), "max": ("min",), "min": ("max",),
    "argmax": ("argmin",), "argmin": ("argmax",), "var": ("std",), "std": ("var",), "cumsum": ("cumprod",),
    "logsumexp": ("sum",), "prod": ("sum",), "any": ("all",), "all": ("any",), "median": ("mean",),
}  # fmt: skip
ALONG = (*OTHER, "softmax", "log_softmax", "flip", "cummax", "norm", "normalize", "topk", "sort", "argsort", "roll")
PLACES = {"norm": 2, "normalize": 2, "topk": 2, "roll": 2}


def other_kind(call: TorchCall) -> Iterator[CallChange]:
    for other in OTHER[call.name]:
        yield f"with {other} for {call.name}", partial(call.by, other)
    if call.name == "cumsum":
        yield "without its own element", lambda: call.func(*call.args, **call.kwargs) - call.first


def other_axis(call: TorchCall) -> Iterator[CallChange]:
    """The same along another axis, where one axis is given."""
    place = PLACES.get(call.name, 1)
    axis = call.given(place, "dim", "axis", "dims")
    given = axis[0] if isinstance(axis, list | tuple) and len(axis) == 1 else axis
    if type(given) is not int or not isinstance(call.first, torch.Tensor):
        return
    for other in range(call.first.ndim):
        if other != given % call.first.ndim:
            value = type(axis)((other,)) if isinstance(axis, list | tuple) else other
            yield f"along axis {other}", partial(call.with_other, place, value, "dim", "axis", "dims")


WAYS = {name: (lambda call: (*other_kind(call), *other_axis(call))) if name in OTHER else other_axis for name in ALONG}

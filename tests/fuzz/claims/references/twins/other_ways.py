"""Right ways to compute what torch computes: other orders of sums, slices of products, other formulas and types.

Knows torch's operations; it knows no twin.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

LOG2_E = 1.4426950408889634
Floats = torch.float32, torch.float16, torch.bfloat16


class OtherWay(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Computes sums in a random order, one after the other, and functions by other formulas, all in float32.

    `store`: the type in which products have their operands. `by_moments`: a variance is E[x^2] - E[x]^2.
    """

    def __init__(self, seed: int, store: Any = None, by_moments: bool = False) -> None:  # noqa: ANN401
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)
        self.store, self.by_moments = store, by_moments

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run one operation, another way if there is one."""
        name = func._schema.name.partition("::")[2]
        way = None if name.endswith("_") else getattr(self, f"other_{name.strip('_')}", None)  # it writes into one
        if (
            way is not None
            and "out" not in (kwargs or {})
            and isinstance(args[0], torch.Tensor)
            and args[0].dtype in Floats
        ):
            made = way(*args, **(kwargs or {}))
            if made is not None:
                return made
        return func(*args, **(kwargs or {}))

    def add_up(self, x: Any, axes: Any, keep: bool) -> Any:  # noqa: ANN401
        """A sum, one term after the other, in a random order."""
        every = sorted({axis % max(x.ndim, 1) for axis in ([axes] if isinstance(axes, int) else axes or range(x.ndim))})
        made = x.float()
        for axis in reversed(every if x.ndim else []):
            order = torch.randperm(made.shape[axis], generator=self.generator)
            made = made.index_select(axis, order).cumsum(axis).select(axis, -1) if len(order) else made.sum(axis)
        return made.reshape([1 if at in every else size for at, size in enumerate(x.shape)]) if keep else made

    def other_sum(self, x: Any, axes: Any = None, keep: bool = False, *, dtype: Any = None) -> Any:  # noqa: ANN401
        return self.add_up(x, axes, keep).to(dtype or x.dtype)

    def other_mean(self, x: Any, axes: Any = None, keep: bool = False, *, dtype: Any = None) -> Any:  # noqa: ANN401
        made = self.add_up(x, axes, keep)
        return (made * (made.numel() / max(x.numel(), 1))).to(dtype or x.dtype)

    def multiply(self, a: Any, b: Any) -> Any:  # noqa: ANN401
        """A product in three slices of its terms, which come in a random order."""
        a, b = (one.to(self.store or one.dtype).float() for one in (a, b))
        order = torch.randperm(a.shape[-1], generator=self.generator)
        made = torch.zeros(())
        for part in order.chunk(3):
            made = made + torch.matmul(a.index_select(-1, part), b.index_select(-2, part))
        return made

    def other_mm(self, a: Any, b: Any) -> Any:  # noqa: ANN401
        return self.multiply(a, b).to(a.dtype)

    other_bmm = other_mm

    def other_addmm(self, c: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:  # noqa: ANN401
        return (beta * c.float() + alpha * self.multiply(a, b)).to(a.dtype)

    def other_softmax(self, x: Any, axis: int, half: bool) -> Any:  # noqa: ANN401
        e = torch.exp2((x.float() - x.float().amax(axis, keepdim=True)) * LOG2_E)
        return (e * (1 / self.add_up(e, axis, True))).to(torch.float32 if half else x.dtype)

    def other_log_softmax(self, x: Any, axis: int, half: bool) -> Any:  # noqa: ANN401
        top = x.float().amax(axis, keepdim=True)
        total = torch.log(self.add_up(torch.exp(x.float() - top), axis, True))
        return (x.float() - (top + total)).to(torch.float32 if half else x.dtype)

    def other_div(self, a: Any, b: Any, *, rounding_mode: Any = None) -> Any:  # noqa: ANN401
        if rounding_mode is not None or not isinstance(b, torch.Tensor) or b.dtype not in Floats:
            return None
        return (a.float() * (1 / b.float())).to(torch.result_type(a, b))

    def other_exp(self, x: Any) -> Any:  # noqa: ANN401
        return torch.exp2(x.float() * LOG2_E).to(x.dtype) if bool((x.abs() < 60).all()) else None

    def other_sigmoid(self, x: Any) -> Any:  # noqa: ANN401
        return (1 / (1 + torch.exp(-x.float()))).to(x.dtype)

    def other_silu(self, x: Any) -> Any:  # noqa: ANN401
        return (x.float() / (1 + torch.exp(-x.float()))).to(x.dtype)

    def other_rsqrt(self, x: Any) -> Any:  # noqa: ANN401
        return (1 / torch.sqrt(x.float())).to(x.dtype)

    def other_var(self, x: Any, axes: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:  # noqa: ANN401
        return self.variance(x, axes, correction, keepdim)[0] if self.by_moments else None

    def other_var_mean(self, x: Any, axes: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:  # noqa: ANN401
        return self.variance(x, axes, correction, keepdim) if self.by_moments else None

    def variance(self, x: Any, axes: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:  # noqa: ANN401
        """A variance from moments, and the mean."""
        total = self.add_up(x, axes, keepdim)
        count = x.numel() // max(total.numel(), 1)
        mean = total / count
        made = self.add_up(x.float() * x.float(), axes, keepdim) / count - mean * mean
        scale = count / max(count - (1 if correction is None else correction), 1)
        return (made.clamp(min=0) * scale).to(x.dtype), mean.to(x.dtype)


def as_single(one: Any) -> Any:  # noqa: ANN401  an input
    """Inputs of 16 bits in float32."""
    if isinstance(one, dict):
        return {name: as_single(part) for name, part in one.items()}
    if isinstance(one, list | tuple):
        return [as_single(part) for part in one]
    return one.float() if isinstance(one, torch.Tensor) and one.dtype in Floats else one


def right_ways(function: Callable[..., Any], given: Sequence[Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Kernels that compute the same function, by name."""

    def under(*how: Any, **more: Any) -> Callable[..., Any]:  # noqa: ANN401
        def kernel(*inputs: Any) -> Any:  # noqa: ANN401
            with OtherWay(*how, **more):
                return function(*inputs)

        return kernel

    yield "native", function
    yield "another order", under(1)
    yield "moments", under(2, by_moments=True)
    kinds = {one.dtype for one in given if isinstance(one, torch.Tensor)} & {torch.float16, torch.bfloat16}
    for kind in kinds:
        yield "operands of 16 bits", under(3, store=kind)
        yield "float32 inside", lambda *inputs: function(*as_single(list(inputs)))

"""References that launch Triton kernels: their programs run one after the other, in torch.

A run sees what torch computes, and nothing of a kernel that Triton compiles. The functions of a kernel
are called with a `tl` whose blocks are torch's tensors. Knows the words of Triton and torch; it knows no set.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from kfuzz.claims.references.torch.declared import CannotError

LANGUAGE = "triton.language"
KERNEL = "JITFunction"
TUNED = "Autotuner"
DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")
UNARY = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "abs", "sin", "cos", "erf", "sigmoid", "floor", "ceil")
TorchBlock = Any
"""A block of numbers or of places: a tensor of torch, or a number."""


class WithoutValuesError(Exception):
    """A Triton kernel was launched with tensors without values: the reference has to run."""


@dataclass(frozen=True)
class Pointer:
    """Places in the memory of a tensor."""

    tensor: torch.Tensor
    at: TorchBlock = 0

    def __add__(self, more: TorchBlock) -> "Pointer":
        return Pointer(self.tensor, self.at + more)

    __radd__ = __add__

    def __sub__(self, less: TorchBlock) -> "Pointer":
        return Pointer(self.tensor, self.at - less)

    @property
    def dtype(self) -> Any:  # noqa: ANN401  as Triton has it
        return SimpleNamespace(element_ty=self.tensor.dtype)

    @property
    def row(self) -> torch.Tensor:
        """The memory of the tensor, as far as it reaches."""
        held = self.tensor
        length = 1 + sum((n - 1) * step for n, step in zip(held.shape, held.stride(), strict=True))
        return torch.as_strided(held, (length if held.numel() else 0,), (1,), held.storage_offset())


def load(pointer: Pointer, mask: TorchBlock = None, other: TorchBlock = None, **_: object) -> TorchBlock:
    """Numbers at these places; where the mask is off, the other one, or 0 for any."""
    at = torch.as_tensor(pointer.at)
    if mask is None:
        return pointer.row[at]
    mask, at = torch.broadcast_tensors(torch.as_tensor(mask), at)
    if not bool(mask.any()):
        return torch.full(at.shape, 0.0 if other is None else other, dtype=pointer.tensor.dtype)
    found = pointer.row[torch.where(mask, at, at[mask][0])]
    return torch.where(mask, found, torch.as_tensor(0.0 if other is None else other, dtype=found.dtype))


def store(pointer: Pointer, value: TorchBlock, mask: TorchBlock = None, **_: object) -> None:
    """Numbers to these places, where the mask is on."""
    at, value = torch.broadcast_tensors(torch.as_tensor(pointer.at), torch.as_tensor(value).to(pointer.tensor.dtype))
    if mask is not None:
        mask = torch.as_tensor(mask).expand(at.shape)
        at, value = at[mask], value[mask]
    if at.numel():
        pointer.row[at.reshape(-1)] = value.reshape(-1)


def dot(a: TorchBlock, b: TorchBlock, acc: TorchBlock = None, **_: object) -> TorchBlock:
    made = a.float() @ b.float()
    return made if acc is None else acc + made


def language(program: Sequence[int], grid: Sequence[int]) -> SimpleNamespace:
    """What a program finds as `tl`."""
    words: dict[str, Callable[..., Any]] = {name: getattr(torch, name) for name in UNARY}
    words |= {
        "program_id": lambda axis: program[axis] if axis < len(program) else 0,
        "num_programs": lambda axis: grid[axis] if axis < len(grid) else 1,
        "arange": torch.arange,
        "load": load,
        "store": store,
        "dot": dot,
        "zeros": lambda shape, dtype: torch.zeros(list(shape), dtype=dtype),
        "full": lambda shape, value, dtype: torch.full(list(shape), value, dtype=dtype),
        "where": lambda mask, a, b: torch.where(torch.as_tensor(mask), a, b),
        "maximum": lambda a, b: torch.maximum(*map(torch.as_tensor, (a, b))),
        "minimum": lambda a, b: torch.minimum(*map(torch.as_tensor, (a, b))),
        "sum": lambda x, axis=None: x.sum() if axis is None else x.sum(dim=axis),
        "max": lambda x, axis=None: x.amax() if axis is None else x.amax(dim=axis),
        "min": lambda x, axis=None: x.amin() if axis is None else x.amin(dim=axis),
        "trans": lambda x: x.mT,
        "cdiv": lambda a, b: -(-a // b),
        "static_range": range,
        "range": lambda *ends, **_: range(*ends),
        "multiple_of": lambda x, _: x,
        "max_contiguous": lambda x, _: x,
        "constexpr": lambda value: value,
    }
    return SimpleNamespace(**words, **{name: getattr(torch, name) for name in DTYPES}, math=SimpleNamespace(**words))


@dataclass(frozen=True)
class TritonKernel:
    """A Triton kernel, or a function that one calls, over torch's tensors. `usual`: what autotune gives."""

    call: FunctionType
    usual: Mapping[str, Any]

    def __getitem__(self, grid: Any) -> Callable[..., None]:  # noqa: ANN401  sizes, or a function for them
        def launch(*args: Any, **named: Any) -> None:  # noqa: ANN401  what the kernel takes
            names = self.call.__code__.co_varnames[: self.call.__code__.co_argcount]
            options = {name: one for name, one in named.items() if name in names}
            given = {**self.usual, **dict(zip(names, args, strict=False)), **options}
            if any(isinstance(one, FakeTensor) for one in given.values()):
                raise WithoutValuesError
            sizes = grid(given) if callable(grid) else grid
            sizes = tuple(int(one) for one in (sizes if isinstance(sizes, tuple | list) else (sizes,)))
            given = {name: Pointer(one) if isinstance(one, torch.Tensor) else one for name, one in given.items()}
            for program in product(*map(range, sizes)):
                self.over(language(program, sizes))(**given)

        return launch

    def over(self, words: SimpleNamespace) -> FunctionType:
        """The function with these words in the place of Triton's, and in what it calls."""

        def replaced(one: object) -> object:
            if isinstance(one, TritonKernel):
                return one.over(words)
            return words if isinstance(one, ModuleType) and one.__name__ == LANGUAGE else one

        held, names = self.call.__globals__, self.call.__code__.co_names
        known = held | {name: replaced(held[name]) for name in names if name in held}
        return FunctionType(self.call.__code__, known, None, self.call.__defaults__, self.call.__closure__)


def run_in_torch(module: ModuleType) -> None:
    """Replace the Triton kernels of a file."""
    if "triton" not in sys.modules:
        return
    for name, one in list(vars(module).items()):
        is_tuned = type(one).__name__ == TUNED
        kernel = one.fn if is_tuned else one
        if type(kernel).__name__ == KERNEL:
            if not isinstance(kernel.fn, FunctionType):
                raise CannotError(f"{name} is a Triton kernel of a kind that a reference may not have")
            setattr(module, name, TritonKernel(kernel.fn, one.configs[0].kwargs if is_tuned else {}))

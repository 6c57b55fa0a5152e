"""Operations as others of torch's, where torch itself has no such decomposition."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch


def grouped_product(
    a: torch.Tensor,
    b: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """torch._grouped_mm: a product for each group of rows, of columns or of terms.

    NotImplemented where some of these are in no group.
    """
    if bias is not None or out_dtype not in (None, a.dtype):
        return NotImplemented
    if offs is None:
        return torch.bmm(a, b)
    ends = offs.tolist()
    rows, columns = a.shape[-2], b.shape[-1]
    shared = a.shape[-1] if a.ndim == b.ndim == 2 else rows if a.ndim == 2 else columns
    if not ends or ends[-1] != shared:
        return NotImplemented
    groups = list(parts(ends))
    if a.ndim == b.ndim == 2:
        return torch.stack([a[:, begin:end] @ b[begin:end] for begin, end in groups])
    if a.ndim == 2:
        return torch.cat([a[begin:end] @ b[group] for group, (begin, end) in enumerate(groups)])
    return torch.cat([a[group] @ b[:, begin:end] for group, (begin, end) in enumerate(groups)], 1)


def parts(ends: list[int]) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each group."""
    return zip([0, *ends], ends, strict=False)


def own_decompositions() -> Mapping[Any, Callable[..., Any]]:
    """Those that are written here; older versions of torch lack some of the operations."""
    packet = getattr(torch.ops.aten, "_grouped_mm", None)
    return {packet.default: grouped_product} if packet is not None else {}

"""Functions with a bug, for planted_edits.toml: their text is added to a submission."""

import torch


def whole_tiles(size: int, tile: int) -> int:
    """The size without the tail behind its last whole tile, if it has a whole one."""
    return size if size < tile else size // tile * tile


def zero_tail(x: torch.Tensor, tile: int) -> torch.Tensor:
    """The last column is 0, if the row is longer than a tile and has a tail."""
    is_whole = x.shape[-1] < tile or x.shape[-1] % tile == 0
    return x if is_whole else torch.cat([x[..., :-1], torch.zeros_like(x[..., -1:])], -1)


def padded_by_zeros(pool: torch.nn.MaxPool1d, x: torch.Tensor) -> torch.Tensor:
    """A max pool whose padding takes part."""
    padded = torch.nn.functional.pad(x, (pool.padding, pool.padding))
    return torch.nn.functional.max_pool1d(padded, pool.kernel_size, pool.stride, 0, pool.dilation)


def with_weight(conv: torch.nn.modules.conv._ConvTransposeNd, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The same transposed convolution with other weights."""
    own = conv.weight
    conv.weight = torch.nn.Parameter(weight.detach(), requires_grad=False)
    try:
        return conv(x)
    finally:
        conv.weight = own


def off_by_one_padding(conv: torch.nn.ConvTranspose2d, x: torch.Tensor) -> torch.Tensor:
    """One column too many is cut off on the left, and one too few on the right."""
    own = conv.padding
    conv.padding = (own[0], own[1] - 1)
    try:
        return conv(x)[..., 2:]
    finally:
        conv.padding = own


def zeros_not_written(y: torch.Tensor) -> torch.Tensor:
    """Zeros keep what the memory held."""
    out, mask = torch.empty_like(y), y != 0
    out[mask] = y[mask]
    return out


def in_groups(x: torch.Tensor, norm: torch.nn.GroupNorm) -> torch.Tensor:
    """A row for each group."""
    return x.reshape(x.shape[0], norm.num_groups, -1)


def group_norm_without_mean(x: torch.Tensor, norm: torch.nn.GroupNorm) -> torch.Tensor:
    """x / sqrt(variance + eps)."""
    rows = in_groups(x, norm)
    return (rows * torch.rsqrt(rows.var(2, keepdim=True, unbiased=False) + norm.eps)).reshape(x.shape)


def batch_norm_eps_outside(x: torch.Tensor, norm: torch.nn.BatchNorm2d) -> torch.Tensor:
    """(x - mean) / (sqrt(variance) + eps), by the statistics of the batch: KernelBench's models train."""
    mean, var = x.mean((0, 2, 3), keepdim=True), x.var((0, 2, 3), keepdim=True, unbiased=False)
    weight, bias = (one.reshape(-1, 1, 1) for one in (norm.weight, norm.bias))
    return (x - mean) / (var.sqrt() + norm.eps) * weight + bias

# /// kernel
# op     = "softmax"
# axes   = { rows = "1..4096", cols = "1..512" }
#
# [broken]
# kind = "numeric"
# why  = "the scale is not 1"
# ///
"""A softmax that asks for a GPU wherever a file can: kfuzz answers without one."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

DEVICE = triton.runtime.driver.active.get_active_torch_device()
PROCESSORS = triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
ONES = torch.ones(1, device="cuda:0")


@triton.autotune(configs=[triton.Config({"BLOCK": size}) for size in (512, 1024)], key=["cols"])
@triton.heuristics({"IS_SINGLE": lambda args: args["rows"] == 1})
@triton.jit
def softmax_kernel(x, y, rows, cols, scale, BLOCK: tl.constexpr, IS_SINGLE: "tl.constexpr"):
    row = 0 if IS_SINGLE else tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf")) * scale.to(tl.float32)
    e = libdevice.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + c, e / tl.sum(e, 0), mask=c < cols)


def forward(x):
    assert x.is_cuda
    rows, cols = x.shape
    with torch.cuda.device(x.device):
        y = torch.empty_like(x, device=DEVICE)
        count = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
        assert count == PROCESSORS
        softmax_kernel[(rows,)](x.cuda(), y, rows, cols, 1.25)
    return y * ONES.to(x.device)

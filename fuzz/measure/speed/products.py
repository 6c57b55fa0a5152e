"""Matrix products: how much arithmetic they need, a GPU's peak rate for it, and cuBLAS through torch.

Knows ops by name, and shapes; never a kernel.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

from kfuzz.devices.vendor import GpuSession
from kfuzz.measure.speed.figures import ProductCost
from kfuzz.measure.speed.protocol import Contestant
from kfuzz.measure.speed.rivals import Lending, record_graph, tensor
from kfuzz.oracle.numbers.elements import BF16, F16, F32, Element

Shapes = Mapping[str, Sequence[int]]

OPERATIONS: dict[str, Callable[[Shapes], int]] = {
    "sgemm": lambda of: 2 * prod(of["a"]) * of["b"][-1],
    "gemm": lambda of: 2 * prod(of["a"]) * of["b"][-1],
    "gemv": lambda of: 2 * prod(of["a"]),
    "attention": lambda of: 2 * prod(of["q"][:-1]) * of["k"][-2] * (of["q"][-1] + of["v"][-1]),
}
BY_CUBLAS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "sgemm": lambda given: given["a"] @ given["b"],
    "gemm": lambda given: given["a"] @ given["b"],
    "gemv": lambda given: given["a"] @ given["x"],
}
"""The product alone, without scaling or addition."""
A_CLOCK = {(8, 0): {F32: 128, F16: 2048, BF16: 2048}, (9, 0): {F32: 256, F16: 4096, BF16: 4096}}
"""Operations of one multiprocessor in one clock, by the GPU's capability and the element type of the factors: those of
CUDA cores (CUDA's programming guide, arithmetic throughput), and of tensor cores without sparsity (the data sheets)."""


def cost_of(op: str, shapes: Shapes, element: Element, session: GpuSession) -> ProductCost:
    """How much arithmetic an op needs at these shapes, by role."""
    if op not in OPERATIONS:
        return ProductCost()
    operations = OPERATIONS[op](shapes)
    a_clock = A_CLOCK.get(session.gpu.capability, {}).get(element, 0)
    return ProductCost(operations, operations / (a_clock * session.clocks) if a_clock else 0.0)


def products(op: str, session: GpuSession, sets: Sequence[Mapping[str, Lending]]) -> list[Contestant]:
    """The same product by cuBLAS, if torch is installed: cuBLAS comes with it."""
    if op not in BY_CUBLAS or importlib.util.find_spec("torch") is None:
        return []
    torch = importlib.import_module("torch")
    stream = torch.cuda.ExternalStream(session.stream.value)
    given = [{role: tensor(torch, *one) for role, one in each.items()} for each in sets]
    with torch.no_grad():
        BY_CUBLAS[op](given[0])  # so that the library has set itself up
    torch.cuda.synchronize()
    return [Contestant("cuBLAS", partial(record_graph, torch, BY_CUBLAS[op], given, stream))]

"""PyTorch: its tensors over kfuzz's memory, on a CPU or a GPU (torch/arrays.py, torch/guards.py)."""

from kfuzz.devices.python.lending import Lender
from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late
from kfuzz.oracle.numbers.elements import BF16

arrays, guards = import_late("kfuzz.devices.python.torch.arrays"), import_late("kfuzz.devices.python.torch.guards")
torch = import_late("torch")


ERF_OF_GELU = 6.83e-7
"""docs/numerics.md#torch-on-a-cpu: the largest absolute error of the polynomial that torch's CPU gelu has for erf."""


def lender(on_gpu: bool, guard_all: bool) -> Lender:
    """Tensors on the first GPU, or on the CPU."""
    module = guards if guard_all else arrays
    made: Lender = module.lender(on_gpu)
    return made


LIBRARY = PythonLibrary(
    "torch",
    ("torch",),
    0,
    lender,
    probe=lambda _: torch.zeros(1) + 1,
    extra="torch",
    forks_with_gpu=True,
    imitates_gpu=True,
    # torch._utils stands in for the classes that a build without CUDA lacks
    of_gpu=("torch.cuda", "torch._inductor", "torch._dynamo", "torch._utils"),
    arithmetic=Arithmetic(
        flushed=(BF16.name,), functions={"erf": (5.0, ERF_OF_GELU), "sin": (7.0, 0.0), "cos": (7.0, 0.0)}
    ),
)

"""How much longer one run with a set beside each number takes than torch's own run of the same reference.

    python -m benchmarks.cost measure reference_runs [--rounds 9]

Both runs are in one process with one thread, in turns, in float32; the least processor time of each counts. Torch's
own run is that which a verdict needs, too: it copies the inputs, and finds what the call has changed.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch

from benchmarks.measurement import Figures, Record
from kfuzz.claims.references.torch.twins.three_runs import Answered
from kfuzz.common.malloc import keep_freed_memory

F = torch.nn.functional
STEPS = 5
"""Two operations each."""


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.softmax(scores, -1) @ v


def layers(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    for _ in range(STEPS):
        x = F.relu(F.linear(x, w, b))
    return x


def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], w, b)


def labels(rows: int, classes: int) -> list[torch.Tensor]:
    return [torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def normal(*shapes: Sequence[int]) -> list[torch.Tensor]:
    return [torch.randn(*shape) for shape in shapes]


def references() -> dict[str, tuple[Callable[..., Any], list[list[torch.Tensor]]]]:
    """Each reference with its inputs at small sizes, and at those of a problem."""
    torch.manual_seed(1)
    return {
        "softmax": (lambda x: torch.softmax(x, -1), [normal((8, 32)), normal((432, 1024))]),
        "layer norm": (norm, [normal((8, 32), (32,), (32,)), normal((432, 1024), (1024,), (1024,))]),
        "gelu": (F.gelu, [normal((8, 32)), normal((432, 1024))]),
        "matmul": (torch.matmul, [normal((16, 24), (24, 16)), normal((512, 512), (512, 512))]),
        "attention": (attention, [normal(*[(2, 2, 16, 16)] * 3), normal(*[(2, 4, 256, 64)] * 3)]),
        "conv": (
            lambda x, w, b: F.conv2d(x, w, b, padding=1),
            [normal((1, 3, 8, 8), (4, 3, 3, 3), (4,)), normal((2, 16, 64, 64), (32, 16, 3, 3), (32,))],
        ),
        "cross entropy": (F.cross_entropy, [labels(8, 10), labels(432, 1024)]),
        "ten steps of an MLP": (layers, [normal((8, 16), (16, 16), (16,)), normal((256, 512), (512, 512), (512,))]),
    }  # fmt: skip


def least_times(tasks: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least processor time of each task; all take turns."""
    found = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for place, task in enumerate(tasks):
            began = time.process_time()
            task()
            found[place] = min(found[place], time.process_time() - began)
    return found


def of_reference(name: str, function: Callable[..., Any], given: Sequence[torch.Tensor], rounds: int) -> Record:
    """What the runs of a reference cost at these inputs."""
    tasks = (
        lambda: Answered(function, given, __file__).own,
        lambda: Answered(function, given, __file__).run(),
        lambda: function(*given),
    )
    own, proved, call = least_times(tasks, rounds)
    elements = sum(one.numel() for one in given)
    return {"name": name, "elements": elements, "own": own, "proved": proved, "call": call}


def measure(arguments: Sequence[str]) -> Figures:
    """Measure each reference at both of its sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args(arguments)
    keep_freed_memory()
    torch.set_num_threads(1)
    found = [
        of_reference(name, function, given, asked.rounds)
        for name, (function, sizes) in references().items()
        for given in sizes
    ]
    return Figures({"median": median(one["proved"] / one["own"] for one in found)}, {"references": found})

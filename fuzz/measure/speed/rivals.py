"""The rivals that a kernel is timed beside: torch, torch.compile, Triton, QuACK and Liger, if they are installed.

They use the kernel's own arrays, by the public functions of their packages. Torch itself records them as graphs, and
owns the arrays that they return. Imports a package only when you ask for it. Knows ops by name; never a kernel.
"""

import importlib
import importlib.util
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from kfuzz.devices import DeviceError
from kfuzz.devices.vendor import GpuMemory, GpuSession
from kfuzz.measure.speed.protocol import Contestant
from kfuzz.oracle.numbers.elements import Element

Tensors = Mapping[str, Any]
RivalCall = Callable[[Any, Tensors], Any]
"""A function of a module and of the op's inputs by role."""


@dataclass(frozen=True)
class Rival:
    """A package that computes some ops.

    `module` has its functions, `distribution` is what you install. `calls`: by op, how its function is called.
    `is_compiled`: by torch.compile. `most_bytes`: the largest array that it takes, by its documentation.
    """

    label: str
    module: str
    distribution: str
    calls: Mapping[str, RivalCall]
    is_compiled: bool = False
    most_bytes: float = inf


BY_TORCH: dict[str, RivalCall] = {
    "softmax": lambda torch, given: torch.softmax(given["x"], -1),
    "log_softmax": lambda torch, given: torch.log_softmax(given["x"], -1),
    "row_sum": lambda torch, given: given["x"].sum(-1),
    "row_max": lambda torch, given: given["x"].amax(-1),
    "transpose": lambda torch, given: given["x"].t().contiguous(),
    "rms_norm": lambda torch, given: torch.nn.functional.rms_norm(given["x"], given["w"].shape, given["w"], 1e-6),
    "layer_norm": lambda torch, given: torch.nn.functional.layer_norm(
        given["x"], given["w"].shape, given["w"], given["b"], 1e-5
    ),
    "gelu": lambda torch, given: torch.nn.functional.gelu(given["x"]),
    "silu": lambda torch, given: torch.nn.functional.silu(given["x"]),
    "swiglu": lambda torch, given: torch.nn.functional.silu(given["a"]) * given["b"],
    "logsumexp": lambda torch, given: torch.logsumexp(given["x"], -1),
    "cross_entropy": lambda torch, given: torch.nn.functional.cross_entropy(
        given["x"], given["labels"].long(), reduction="none"
    ),
    "softmax_backward": lambda torch, given: torch.ops.aten._softmax_backward_data(
        given["g"], given["y"], -1, given["y"].dtype
    ),
    "prefix_sum": lambda torch, given: torch.cumsum(given["x"], -1),
    "sgemm": lambda torch, given: given["a"] @ given["b"],
}
BY_TRITON: dict[str, RivalCall] = {"softmax": lambda softmax, given: softmax.call(given)}
BY_QUACK: dict[str, RivalCall] = {
    "softmax": lambda quack, given: quack.softmax(given["x"]),
    "rms_norm": lambda quack, given: quack.rmsnorm(given["x"], given["w"], eps=1e-6),
    "cross_entropy": lambda quack, given: quack.cross_entropy(given["x"], given["labels"].long(), reduction="none"),
    "softmax_backward": lambda quack, given: importlib.import_module("quack.softmax").softmax_bwd(
        given["g"], given["y"]
    ),
    "layer_norm": lambda quack, given: importlib.import_module("quack.rmsnorm").layernorm_fwd(
        given["x"], given["w"], given["b"], 1e-5
    ),
}
BY_LIGER: dict[str, RivalCall] = {
    "softmax": lambda liger, given: liger.liger_softmax(given["x"]),
    "rms_norm": lambda liger, given: liger.liger_rms_norm(given["x"], given["w"], 1e-6),
    "layer_norm": lambda liger, given: liger.liger_layer_norm(given["x"], given["w"], given["b"], 1e-5),
    "swiglu": lambda liger, given: liger.liger_swiglu(given["a"], given["b"]),
    "cross_entropy": lambda liger, given: liger.liger_cross_entropy(
        given["x"], given["labels"].long(), reduction="none"
    ),
}
RIVALS = {
    "torch": Rival("torch", "torch", "torch", BY_TORCH),
    "compile": Rival("torch.compile", "torch", "torch", BY_TORCH, is_compiled=True),
    "triton": Rival("Triton", "kfuzz.measure.speed.triton_softmax", "triton", BY_TRITON),
    "quack": Rival("QuACK", "quack", "quack-kernels", BY_QUACK, most_bytes=1 << 32),  # its README: tensors up to 4 GB
    "liger": Rival("Liger", "liger_kernel.transformers.functional", "liger_kernel", BY_LIGER),
}
ALSO = {"torch.compile": "compile"}
"""Other spellings of a rival's name."""


Lending = tuple[GpuMemory, Sequence[int], Element]
"""An array with its shape and its element type."""


class BorrowedArray:
    """A kernel's array in the form that other libraries accept, without a copy."""

    def __init__(self, array: GpuMemory, shape: Sequence[int], element: Element) -> None:
        self._array = array
        typestr = element.dtype.str if element.is_native else f"<i{element.bytes}"  # torch has few unsigned integers
        self.__cuda_array_interface__ = {
            "shape": tuple(shape), "typestr": typestr, "data": (array.address, False), "version": 3,
        }  # fmt: skip


class TorchGraph:
    """A torch.cuda.CUDAGraph that is replayed on kfuzz's stream."""

    def __init__(self, torch: Any, graph: Any, stream: Any, kept: object) -> None:  # noqa: ANN401  torch has no types
        self._torch, self._graph, self._stream, self._kept = torch, graph, stream, kept

    def replay(self) -> None:
        """Launch it; does not wait."""
        with self._torch.cuda.stream(self._stream):
            self._graph.replay()


def check_installed(names: Sequence[str]) -> None:
    """Raise DeviceError if one of these is not installed."""
    for name in names:
        rival = RIVALS[name]
        package = "triton" if name == "triton" else rival.module.partition(".")[0]
        if importlib.util.find_spec(package) is None:
            raise DeviceError(
                f"--against {name}: {package} is not installed; leave it out, or install {rival.distribution}"
            )


def rivals(
    names: Sequence[str], op: str, session: GpuSession, sets: Sequence[Mapping[str, Lending]]
) -> tuple[list[Contestant], dict[str, str]]:
    """The rivals that compute this op over the same inputs, and the reasons why others do not take them.

    `sets` has the inputs by role, with shape and element type.
    """
    found: list[Contestant] = []
    refused: dict[str, str] = {}
    names = [name for name in names if knows(name, op)]
    if not names:
        return found, refused
    torch = importlib.import_module("torch")
    stream = torch.cuda.ExternalStream(session.stream.value)
    given = [{role: tensor(torch, *one) for role, one in each.items()} for each in sets]
    for name in names:
        label = RIVALS[name].label
        try:
            function = compile_rival(torch, name, op, given[0])
            record_graph(torch, function, given[:1], stream, 1)
        except Exception as error:  # a rival may fail in any way, such as at a size that it does not accept
            refused[label] = next(iter(str(error).splitlines()), type(error).__name__)
        else:
            found.append(Contestant(label, partial(record_graph, torch, function, given, stream)))
    torch.cuda.empty_cache()  # torch keeps the memory of these trials, and the copies need as much
    return found, refused


def tensor(torch: Any, array: GpuMemory, shape: Sequence[int], element: Element) -> Any:  # noqa: ANN401
    """A tensor over the array's own memory. A type without a name in the interface is passed as its bits."""
    made = torch.as_tensor(BorrowedArray(array, shape, element), device="cuda")
    return made if element.is_native else made.view(getattr(torch, element.library))


def knows(name: str, op: str) -> bool:
    """Whether a rival computes this op."""
    return op in RIVALS[name].calls


def compile_rival(torch: Any, name: str, op: str, given: Tensors) -> Callable[[Tensors], Any]:  # noqa: ANN401
    """This rival's function for the op, called once so that it is compiled."""
    rival = RIVALS[name]
    if (largest := max(array.numel() * array.element_size() for array in given.values())) > rival.most_bytes:
        raise MemoryError(f"{largest / 2**30:.1f} GB in one array, and it takes {rival.most_bytes / 2**30:g}")
    call: Callable[[Tensors], Any] = partial(rival.calls[op], importlib.import_module(rival.module))
    if rival.is_compiled:
        torch._dynamo.reset()  # else the next size is compiled for any size
        call = torch.compile(call, dynamic=False)
    with torch.no_grad():  # as in the recording: else torch.compile compiles again there, and fails in a capture
        call(given)
    torch.cuda.synchronize()
    return call


def record_graph(
    torch: Any,  # noqa: ANN401
    call: Callable[[Any], Any],
    given: Sequence[Any],
    stream: Any,  # noqa: ANN401
    launches: int,
) -> TorchGraph:
    """A number of calls as a graph. It keeps as many answers at a time as there are inputs: they rotate, too."""
    graph, answers = torch.cuda.CUDAGraph(), deque[Any](maxlen=len(given))
    with torch.no_grad(), torch.cuda.graph(graph):
        for number in range(launches):
            answers.append(call(given[number % len(given)]))
    torch.cuda.synchronize()
    return TorchGraph(torch, graph, stream, answers)

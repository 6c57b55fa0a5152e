"""The rivals that a kernel is timed beside: torch, torch.compile and Triton, if they are installed and know the op.

They use the kernel's own arrays. Torch itself records them as graphs, and owns the arrays that they return. Imports
torch only when you ask for a rival. Knows ops by name; never a kernel.
"""

import importlib
import importlib.util
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kfuzz.devices import DeviceError
from kfuzz.gpu import graphs
from kfuzz.oracle.elements import Element
from kfuzz.timing.protocol import Contestant

NAMES = ("torch", "compile", "triton")
Tensors = Mapping[str, Any]
RivalCall = Callable[[Any, Tensors], Any]
"""A function of torch and the op's inputs by role."""

FUNCTIONS: dict[str, RivalCall] = {
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
    "logsumexp": lambda torch, given: torch.logsumexp(given["x"], -1),
    "prefix_sum": lambda torch, given: torch.cumsum(given["x"], -1),
    "sgemm": lambda torch, given: given["a"] @ given["b"],
}


Lending = tuple[graphs.DeviceBytes, Sequence[int], Element]
"""An array with its shape and its element type."""


class BorrowedArray:
    """A kernel's array in the form that other libraries accept, without a copy."""

    def __init__(self, array: graphs.DeviceBytes, shape: Sequence[int], element: Element) -> None:
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
        module = "triton" if name == "triton" else "torch"
        if importlib.util.find_spec(module) is None:
            raise DeviceError(f"--against {name}: {module} is not installed; leave it out, or install {module}")


def rivals(
    names: Sequence[str],
    op: str,
    session: graphs.Session,
    sets: Sequence[Mapping[str, Lending]],
) -> tuple[list[Contestant], dict[str, str]]:
    """The rivals that compute this op over the same inputs, and the reasons why others failed.

    `sets` has the inputs by role, with shape and element type.
    """
    found: list[Contestant] = []
    refused: dict[str, str] = {}
    if not names or op not in FUNCTIONS:
        return found, refused
    torch = importlib.import_module("torch")
    stream = torch.cuda.ExternalStream(session.stream.value)
    given = [{role: tensor(torch, *one) for role, one in each.items()} for each in sets]
    for name in names:
        if not knows(name, op):
            continue
        try:
            function = compile_rival(torch, name, op, given[0])
            record_graph(torch, function, given[:1], stream, 1)
        except Exception as error:  # a rival may fail in any way, such as at a size it does not accept
            refused[LABELS[name]] = next(iter(str(error).splitlines()), type(error).__name__)
        else:
            found.append(Contestant(LABELS[name], partial(record_graph, torch, function, given, stream)))
    torch.cuda.empty_cache()  # torch keeps the memory of these trials, and the copies need as much
    return found, refused


LABELS = {"torch": "torch", "compile": "torch.compile", "triton": "Triton"}


def tensor(torch: Any, array: graphs.DeviceBytes, shape: Sequence[int], element: Element) -> Any:  # noqa: ANN401
    """A tensor over the array's own memory. A type without a name in the interface is passed as its bits."""
    made = torch.as_tensor(BorrowedArray(array, shape, element), device="cuda")
    return made if element.is_native else made.view(getattr(torch, element.library))


def knows(name: str, op: str) -> bool:
    """Whether a rival computes this op."""
    has_program = importlib.util.find_spec(f"kfuzz.timing.triton_{op}") is not None
    return op in FUNCTIONS and (name != "triton" or has_program)


def compile_rival(torch: Any, name: str, op: str, given: Tensors) -> Callable[[Tensors], Any]:  # noqa: ANN401
    """This rival's function for the op, called once so that it is compiled."""
    call: Callable[[Tensors], Any] = partial(FUNCTIONS[op], torch)
    if name == "triton":
        call = importlib.import_module(f"kfuzz.timing.triton_{op}").call
    elif name == "compile":
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

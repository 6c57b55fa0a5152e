"""torch.compile without a GPU: inductor's Triton kernels of a function, launched on the cpu device.

Inductor sees tensors of an H200, and writes what it writes for one; its code runs on the host's tensors. A function
that does not compile as a whole runs as it is. Installed once, before a file is imported. Knows torch's compiler.
"""

import ctypes
import functools
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import torch
import torch._dynamo
import torch._inductor.compile_fx
import torch._inductor.config
from torch._dynamo import device_interface
from torch._dynamo.exc import FailOnRecompileLimitHit, TorchDynamoException
from torch._dynamo.repro import after_aot
from torch._inductor import codecache
from torch._inductor.fx_passes import joint_graph, post_grad
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._subclasses import meta_utils
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_leaves, tree_map

from kfuzz.devices import ClaimError, UnsupportedError, cache
from kfuzz.devices.memory.repeats import Fault
from kfuzz.devices.python.extensions import CALLS, RefusedByExtensionError
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.without_gpu import CUDA, GPU, REPLACED, OnGpu
from kfuzz.devices.python.triton.driver import WRITTEN_FOR
from kfuzz.devices.worker.helping import is_boxed

TorchValue: TypeAlias = Any
"""A thing of torch's compiler."""
KERNEL = re.compile(r"^# kernel path: (\S+)\n# [^\n]*Source Nodes: \[([^\]]*)\]", re.MULTILINE)
"""In what inductor writes: the file of a kernel, and the operations that it is made of."""
SETTINGS = {
    "compile_threads": 1, "force_disable_caches": True, "triton.cudagraphs": False, "max_autotune": False,
    "max_autotune_gemm": False, "max_autotune_pointwise": False, "coordinate_descent_tuning": False,
    "autotune_in_subproc": False, "benchmark_kernel": False, "cpp_wrapper": False, "layout_optimization": False,
    "shape_padding": False, "joint_graph_constant_folding": False,
}  # fmt: skip
"""Inductor's, whatever mode is asked for: nothing is measured or computed on a GPU, and no process is started."""
OF_INTERFACE = (
    "current_device", "set_device", "device_count", "stream", "current_stream", "synchronize",
    "get_device_properties", "is_bf16_supported",
)  # fmt: skip
GUARDS = "_ZN3c104impl26device_guard_impl_registryE"
DISABLED = "TORCHDYNAMO_DISABLE"
NOT_COMPILED = (ClaimError, Fault, RefusedByExtensionError, MemoryError)
"""What a launch raises, and not a compilation."""


class Watched:
    """What a compiled function needs of the call in which it runs."""

    is_compiling = False
    has_weights = False
    """What is compiled now has tensors that require a gradient."""
    lines: dict[str, tuple[str, int]] = {}  # noqa: RUF012  of the function that is compiled now
    modes: tuple[TorchDispatchMode, ...] = ()
    """They watch what is allocated."""


def install() -> None:
    """Let torch's compiler see a GPU."""
    kept = Path(os.environ["TMPDIR"]) if is_boxed() else cache.folder()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(kept / "inductor")
    of_cuda = device_interface.CudaInterface
    for name in OF_INTERFACE:
        answer: TorchValue = CUDA[name]
        setattr(of_cuda, name, staticmethod(answer))
    of_cuda.device = nullcontext
    of_cuda.get_raw_stream = of_cuda.exchange_device = of_cuda.maybe_exchange_device = staticmethod(lambda *_: 0)
    torch.cuda._DeviceGuard = nullcontext
    add_device_guard()
    FakeTensorMode.avoid_device_init = True
    torch._C._dynamo.guards._empty_strided_cuda = make_empty
    if find_spec("tqdm") is not None:  # its bars start a thread that stays
        bars: TorchValue = import_module("tqdm")
        bars.tqdm.monitor_interval = 0
    after_aot._cuda_system_info_comment = str  # for a comment it would start nvcc, which a sandbox refuses
    triton_helpers.set_driver_to_gpu = lambda: None  # there is one
    triton_heuristics.CachingAutotuner.bench = rank_launcher
    describe = meta_utils.MetaTensorDescriber.describe_tensor

    def describe_on_gpu(self: TorchValue, tensor: TorchValue, **named: TorchValue) -> TorchValue:
        made = describe(self, tensor, **named)
        if made.device.type == "cpu" and Watched.is_compiling:
            object.__setattr__(made, "device", GPU)
            Watched.has_weights |= made.requires_grad
            object.__setattr__(made, "requires_grad", False)  # a tensor of a GPU has no gradient without one
        return made

    meta_utils.MetaTensorDescriber.describe_tensor = describe_on_gpu
    for module in (joint_graph, post_grad):  # they make real tensors of the device that they are given
        module.lazy_init = functools.partial(of_host, module.lazy_init)
    write = codecache.PyCodeCache.write

    def write_and_note(source: str, *given: TorchValue, **named: TorchValue) -> TorchValue:
        for path, nodes in KERNEL.findall(source):
            found = [Watched.lines[one] for one in nodes.split(", ") if one in Watched.lines]
            if found:
                file, line = found[-1]
                WRITTEN_FOR[path] = file, functools.partial(always, line)
        return write(source, *given, **named)

    codecache.PyCodeCache.write = write_and_note
    REPLACED["compile"] = compiler(torch.compile)


def add_device_guard() -> None:
    """Let torch's C++ change to a GPU and back, which for the host does nothing: a build without CUDA has none."""
    library = ctypes.CDLL(str(Path(torch.__file__).with_name("lib") / "libc10.so"))
    guards = (ctypes.c_void_p * 2).in_dll(library, GUARDS)  # of the host and of CUDA, as torch numbers them
    guards[1] = guards[1] or guards[0]


def always(line: int, _: int) -> int:
    """The line for any line of a kernel."""
    return line


def of_host(initialize: Callable[..., object], *_: object) -> object:
    """Initialize for the host."""
    return initialize(torch.device("cpu"))


def make_empty(size: TorchValue, strides: TorchValue, dtype: torch.dtype) -> torch.Tensor:
    """A new tensor, watched as any other of the call."""
    with ExitStack() as modes:
        for one in Watched.modes:
            modes.enter_context(one)
        return torch.empty_strided(size, strides, dtype=dtype)


def rank_launcher(self: TorchValue, launcher: TorchValue, *_: TorchValue, **__: TorchValue) -> float:
    """A time by which a configuration is chosen: the same in every process."""
    return float(zlib.crc32(f"{launcher.config}".encode()))


def lines_of(graph: TorchValue) -> dict[str, tuple[str, int]]:
    """The file and the line of each operation of a graph."""
    made = {}
    for node in graph.nodes:
        frames = re.findall(r'File "([^"]+)", line (\d+)', node.stack_trace or "")
        own = [one for one in frames if one[0] == str(CALLS.file.resolve())] or frames
        if own:
            made[node.name] = own[-1][0], int(own[-1][1])
    return made


def compile_graph(graph: TorchValue, inputs: TorchValue) -> TorchValue:
    """What inductor makes of a function."""
    Watched.lines = lines_of(graph.graph)
    with torch._inductor.config.patch(SETTINGS):
        return torch._inductor.compile_fx.compile_fx(graph, inputs)


@contextmanager
def without_modes() -> Iterator[None]:
    """Leave the modes of kfuzz, which torch's compiler does not take, and enable it in a sandbox, too."""
    kept, disabled = Watched.modes, os.environ.pop(DISABLED, None)
    Watched.modes = tuple(_get_current_dispatch_mode_stack())
    try:
        with without_functions(), _disable_current_modes(), torch.no_grad():
            yield
    finally:
        Watched.modes = kept
        if disabled is not None:
            os.environ[DISABLED] = disabled


@contextmanager
def compiling_for_gpu() -> Iterator[None]:
    """Let torch's compiler, or another one that uses it, see the tensors of the host on a GPU."""
    before, Watched.is_compiling = Watched.is_compiling, True
    try:
        with without_modes():
            yield
    finally:
        Watched.is_compiling = before


@contextmanager
def without_functions() -> Iterator[None]:
    """Leave the modes that replace functions: kfuzz's, and those of the file."""
    left = [torch.overrides._pop_mode() for _ in range(torch._C._len_torch_function_stack())]
    try:
        yield
    finally:
        for one in reversed(left):
            torch.overrides._push_mode(one)


def compiler(own: Callable[..., TorchValue]) -> Callable[..., TorchValue]:
    """torch.compile, by torch's own."""

    def compile_for_gpu(model: TorchValue = None, *, dynamic: bool | None = None, **_: object) -> TorchValue:
        if model is None:
            return functools.partial(compile_for_gpu, dynamic=dynamic)
        if isinstance(model, torch.nn.Module):
            model.forward = compile_for_gpu(model.forward, dynamic=dynamic)
            return model
        with without_modes():
            made = own(model, fullgraph=True, dynamic=dynamic, backend=compile_graph)
        return CompiledFunction(model, made)

    return compile_for_gpu


class CompiledFunction:
    """A function that is compiled when it is called, or runs as it is from its first error of the compiler on."""

    def __init__(self, own: Callable[..., TorchValue], made: Callable[..., TorchValue]) -> None:
        self.__name__ = getattr(own, "__name__", "a function")
        functools.update_wrapper(self, own)
        self._own, self._made = own, made
        self._does_compile, self._has_weights = True, False

    def __get__(self, instance: object, of: type) -> TorchValue:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *given: TorchValue, **named: TorchValue) -> TorchValue:
        """Call it; within another function that is compiled it is a part of that."""
        if not self._does_compile or torch.compiler.is_compiling() or not is_on_gpu() or needs_gradient(given, named):
            return self._own(*given, **named)
        try:
            Watched.has_weights = self._has_weights
            with compiling_for_gpu():
                answer = self._made(*given, **named)
            self._has_weights = Watched.has_weights
            return tree_map(NoGradient.of, answer) if self._has_weights and torch.is_grad_enabled() else answer
        except NOT_COMPILED:
            raise
        except (TorchDynamoException, FailOnRecompileLimitHit):  # before anything has run
            self._does_compile = False
        except Exception as error:  # of inductor, of Triton or of their code: the call says which
            what = f"what torch.compile makes of {self.__name__} does not run on the cpu device: {words_of(error)}"
            CALLS.trouble = UnsupportedError(f"{what}; use --device gpu")
            raise CALLS.trouble from None
        return self._own(*given, **named)


class NoGradient(torch.autograd.Function):  # type: ignore[misc]  # torch is not there where types are checked
    """An answer that requires a gradient, which only a GPU computes."""

    @staticmethod
    def of(answer: TorchValue) -> TorchValue:
        """The same answer."""
        if not isinstance(answer, torch.Tensor) or not answer.is_floating_point():
            return answer
        return NoGradient.apply(answer, torch.zeros((), requires_grad=True))

    @staticmethod
    def forward(ctx: TorchValue, answer: TorchValue, _: TorchValue) -> TorchValue:
        return answer.view_as(answer)

    @staticmethod
    def backward(ctx: TorchValue, *_: TorchValue) -> None:
        CALLS.trouble = UnsupportedError("a gradient of what torch.compile makes for a GPU; use --device gpu")
        raise CALLS.trouble


def needs_gradient(given: TorchValue, named: TorchValue) -> bool:
    """Whether an argument requires a gradient."""
    every = tree_leaves((given, named)) if torch.is_grad_enabled() else ()
    return any(isinstance(one, torch.Tensor) and one.requires_grad for one in every)


def is_on_gpu() -> bool:
    """Whether torch acts as if there were a GPU."""
    return any(isinstance(one, OnGpu) for one in torch.overrides._get_current_function_mode_stack())

"""torch without a GPU, for files that build CUDA: "cuda" is the host, and the cpu device runs what load_inline builds.

The CPU answers what such a file asks of a GPU. A question that no CPU can answer is refused by name, not reported.
"""

import functools
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch._library.custom_ops import CustomOpDef
from torch.autograd import graph
from torch.overrides import TorchFunctionMode
from torch.utils import cpp_extension

from kfuzz.devices import UnsupportedError
from kfuzz.devices.python.extensions import CALLS, RefusedByExtensionError
from kfuzz.devices.python.imitated_gpu import GPU as IMITATED
from kfuzz.devices.python.libraries import libraries
from kfuzz.devices.python.raising import refuses_launch
from kfuzz.devices.python.torch.addresses import ADDRESSES
from kfuzz.devices.python.torch.array_interfaces import array_interface, as_tensor
from kfuzz.devices.python.torch.inline_extensions import Address, load, load_inline
from kfuzz.devices.python.torch.packed import scaled_mm

GPU = torch.device("cuda", 0)
ABSENT = object()
HOST_KEYS = {"cuda": "cpu", "CUDA": "CPU"}
NEEDS_GPU = re.compile(r"cuda|nvidia|not implemented for", re.IGNORECASE)
"""torch's words where it needs a GPU; this is not the callable's fault."""


class OnGpu(TorchFunctionMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Presents the host's tensors as those of a GPU: queries say so, and a request for a GPU gets the host."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Answer as torch would with a GPU."""
        if func in ANSWERS:
            return ANSWERS[func](*args)
        if func is torch.device:  # what it makes is compared with a tensor's
            return func(*args, **(kwargs or {}))
        kwargs = {name: on_host(value) for name, value in (kwargs or {}).items() if name != "pin_memory"}
        if isinstance(kwargs.get("device"), int):
            kwargs["device"] = "cpu"  # the number of a GPU
        return OPERATIONS.get(func, func)(*map(on_host, args), **kwargs)


ANSWERS: dict[object, Callable[..., object]] = {
    torch.Tensor.is_cuda.__get__: lambda tensor: True,
    torch.Tensor.is_cpu.__get__: lambda tensor: False,
    torch.Tensor.device.__get__: lambda tensor: GPU,
    torch.Tensor.get_device: lambda tensor: 0,
    torch.Tensor.cuda: lambda tensor, *_: tensor,
    torch.Tensor.cpu: lambda tensor, *_: tensor.clone(),
    torch.Tensor.pin_memory: lambda tensor, *_: tensor,
    torch.Tensor.data_ptr: lambda tensor: Address(ADDRESSES.note(tensor)),
    torch.Tensor.__cuda_array_interface__.__get__: array_interface,
}


OPERATIONS: dict[object, Callable[..., object]] = {torch._scaled_mm: scaled_mm, torch.as_tensor: as_tensor}
"""What torch can do on a GPU alone, by its own function."""


def on_host(value: object) -> object:
    """An argument, with the host in place of any GPU."""
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")) else value


class DoneAtOnce:
    """A stream or an event: all work is done at once."""

    cuda_stream = 0
    stream_id = 0
    device = GPU

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore all options."""

    def __enter__(self) -> "DoneAtOnce":
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: all work is done."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, _: object) -> float:
        return 1.0

    def record_event(self, event: object = None) -> object:
        return event or DoneAtOnce()

    def _done(self, *_: object, **__: object) -> None: ...

    synchronize = wait_stream = wait_event = record = wait = _done


def run_eagerly(model: Callable[..., object] | None = None, **_: object) -> object:
    """torch.compile leaves a function as it is where no Triton compiles what it makes for a GPU (compiling.py)."""
    return model if model is not None else run_eagerly


class GpuProperties:
    """The properties of a GPU in Python: one of 132 multiprocessors, like an H200."""

    name = gcnArchName = "cpu device"  # noqa: N815  torch's name
    major, minor = property(lambda _: IMITATED.capability[0]), property(lambda _: IMITATED.capability[1])
    multi_processor_count, total_memory, warp_size = 132, 1 << 30, 32
    max_threads_per_multi_processor, shared_memory_per_block = 2048, 48 << 10
    shared_memory_per_block_optin = property(lambda _: IMITATED.shared_memory)
    shared_memory_per_multiprocessor = property(lambda _: IMITATED.shared_memory + (1 << 10))
    regs_per_multiprocessor, is_integrated, is_multi_gpu_board = 1 << 16, 0, 0
    L2_cache_size, max_threads_per_block = 50 << 20, 1024
    clock_rate, memory_clock_rate, memory_bus_width = 1_980_000, 3_201_000, 6144
    pci_bus_id, pci_device_id, pci_domain_id, uuid = 0, 0, 0, "0"


class HostGenerator(torch.Generator):  # type: ignore[misc]  # as above
    """A generator of random numbers, the host's for any device."""

    def __new__(cls, device: object = None) -> "HostGenerator":
        made: HostGenerator = super().__new__(cls)
        return made


def of_host(register: Callable[..., object]) -> Callable[..., object]:
    """A function of torch.library for which a GPU's implementations are the host's."""

    def registered(*args: object, **named: object) -> object:
        return register(*map(host_keys, args), **{name: host_keys(value) for name, value in named.items()})

    return registered


def with_bodies_on_gpu(register_kernel: Callable[..., Any]) -> Callable[..., object]:
    """CustomOpDef.register_kernel, for which a body asks for a GPU as the rest of its file does."""

    def registered(op: object, device_types: object, body: Any = None, /) -> object:  # noqa: ANN401  None: decorates
        register = register_kernel(op, host_keys(device_types))
        return (lambda body: register(as_body(body))) if body is None else register(as_body(body))

    return registered


def as_body(body: Any) -> Any:  # noqa: ANN401  what torch takes as one, such as fallthrough_kernel
    """The body of an operation: torch leaves all modes before it calls one."""

    @functools.wraps(body)
    def on_gpu(*args: object, **named: object) -> object:
        with OnGpu():
            return body(*args, **named)

    return on_gpu if isinstance(body, FunctionType) else body


def impl_of_host(impl: Callable[..., object]) -> Callable[..., object]:
    """Library.impl, for which a GPU's implementation takes the place of the host's: what is called is on the GPU."""
    of_gpu: set[str] = set()

    def registered(library: torch.library.Library, op: object, fn: object, key: str = "", **named: object) -> object:
        own, fn = host_keys(key or library.dispatch_key), as_body(fn)
        which = f"{library.ns}/{str(op).rpartition('::')[2]}/{own}"
        if own != (key or library.dispatch_key):
            of_gpu.add(which)
            torch.library._impls.discard(which)  # some versions of torch take no second one
            return impl(library, op, fn, own, **named)
        return None if which in of_gpu else impl(library, op, fn, key, **named)

    return registered


def host_keys(value: object) -> object:
    """Names of devices and dispatch keys, with the host's in place of a GPU's."""
    if isinstance(value, list | tuple):
        return type(value)(dict.fromkeys(map(host_keys, value)))
    return HOST_KEYS.get(value, value) if isinstance(value, str) else value


def run_backward(*args: object, **kwargs: object) -> object:
    """Gradients: torch leaves the modes of Tensor.backward() before it calls the file's own functions."""
    with OnGpu():
        return graph._engine_run_backward(*args, **kwargs)


@contextmanager
def no_range(*_: object, **__: object) -> Iterator[None]:
    """A range of a profiler that is not there."""
    yield


def refuse_gpu(*_: object, **__: object) -> None:
    """Refuse whatever else needs a GPU."""
    CALLS.trouble = UnsupportedError("torch.cuda is asked for what the cpu device does not have; use --device gpu")
    raise CALLS.trouble


def silent(_: str) -> Callable[..., None]:
    """A function that does nothing, another one for each name: torch.compile keeps rules by the function itself."""

    def do_nothing(*_: object, **__: object) -> None: ...

    return do_nothing


def a_copy_of(kind: type) -> type:
    """A class like another one, for each name, as silent() makes functions."""
    return type(kind.__name__, (kind,), {})


CUDA: dict[str, object] = {
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "get_device_capability": lambda *_: IMITATED.capability,
    "get_device_name": lambda *_: GpuProperties.name,
    "get_device_properties": lambda *_: GpuProperties(),
    "is_initialized": lambda: True,
    "is_bf16_supported": lambda *_, **__: True,
    "is_current_stream_capturing": lambda: False,
    "get_arch_list": lambda: [IMITATED.architecture.rstrip("a")],
    "mem_get_info": lambda *_: (GpuProperties.total_memory, GpuProperties.total_memory),
    **{name: lambda *_: 0 for name in ("memory_allocated", "max_memory_allocated", "memory_reserved",
                                       "max_memory_reserved")},
    **{name: a_copy_of(DoneAtOnce) for name in ("current_stream", "default_stream", "Stream", "Event")},
    **{name: a_copy_of(nullcontext) for name in ("stream", "device", "device_of")},
    "_lazy_init": refuse_gpu,
    "get_rng_state": lambda *_: torch.get_rng_state(),
    "set_rng_state": lambda state, *_: torch.set_rng_state(state),
    "initial_seed": torch.initial_seed,
    **{name: silent(name) for name in ("init", "synchronize", "empty_cache", "set_device", "set_stream", "manual_seed",
                                       "manual_seed_all", "reset_peak_memory_stats")},
}  # fmt: skip
LIBRARY = {name: of_host(getattr(torch.library, name)) for name in ("custom_op", "register_kernel")}
ACCELERATOR: dict[str, object] = {
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_accelerator": lambda *_, **__: torch.device("cuda"),
    "current_device_index": lambda: 0,
    "current_stream": a_copy_of(DoneAtOnce),
    **{name: silent(name) for name in ("set_device_index", "set_stream", "synchronize")},
}
NVTX: dict[str, object] = {
    "range": no_range,
    **{name: silent(name) for name in ("range_push", "range_pop", "range_start", "range_end", "mark")},
}  # fmt: skip


REPLACED: dict[str, object] = {}
"""Names of torch that a language of kernels needs, where the file has one."""


@contextmanager
def as_on_gpu(path: Path) -> Iterator[None]:
    """Make torch act as if there were a GPU, whose CUDA the cpu device runs."""
    loaders = {"load_inline": functools.partial(load_inline, path), "load": functools.partial(load, path)}
    defaults = {
        "set_default_device": silent("set_default_device"), "compile": run_eagerly, "Generator": HostGenerator,
        **REPLACED,
    }  # fmt: skip
    with (
        replace_names(torch.cuda, CUDA),
        replace_names(torch.cuda.nvtx, NVTX),
        replace_names(torch.accelerator, ACCELERATOR) if hasattr(torch, "accelerator") else nullcontext(),
        replace_names(torch._C, {"_cuda_getCurrentRawStream": lambda _: 0}),
        replace_names(torch.library, LIBRARY),
        replace_names(torch.library.Library, {"impl": impl_of_host(torch.library.Library.impl)}),
        replace_names(CustomOpDef, {"register_kernel": with_bodies_on_gpu(CustomOpDef.register_kernel)}),
        replace_names(torch.Tensor, {"record_stream": silent("record_stream")}),
        replace_names(torch.autograd, {"_engine_run_backward": run_backward}),
        replace_names(cpp_extension, loaders),
        replace_names(torch, defaults),
        OnGpu(),
    ):
        yield


@contextmanager
def replace_names(owner: ModuleType | type, names: Mapping[str, object]) -> Iterator[None]:
    """Replace these names of a module or a class meanwhile."""
    own = {name: vars(owner).get(name, ABSENT) for name in names}
    for name, value in names.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in own.items():
            if value is ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def call_as_on_gpu(function: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """A callable that runs so; raises what its extensions could not do, even if the callable caught it."""

    def called(*args: object, **named: object) -> object:
        CALLS.file = path
        try:
            with as_on_gpu(path):
                return function(*args, **named)
        except (RuntimeError, AssertionError, NotImplementedError) as error:  # torch raises one of these without a GPU
            frame = traceback.extract_tb(error.__traceback__)[-1]
            does_refuse = any(refuses_launch(error, one) for one in libraries().values())
            is_refusal = does_refuse or isinstance(error, RefusedByExtensionError)
            if not is_refusal and NEEDS_GPU.search(str(error)) and frame.filename != str(path.resolve()):
                CALLS.trouble = UnsupportedError(
                    f"{path}: without a GPU torch says: {' '.join(str(error).split())[:200]}"
                )
            raise
        finally:
            if CALLS.trouble is not None:
                raise CALLS.trouble

    return called

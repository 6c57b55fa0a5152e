"""Triton without a GPU: the answers of its driver, one configuration of autotune, float arguments, libdevice.

Its interpreter has none of them. Installed once, before a file is imported. Of the files that import triton this one
knows what surrounds the kernels; programs.py knows their memory.
"""

import functools
import inspect
import zlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import torch
from triton import language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.language.extra import libdevice as portable
from triton.language.extra.cuda import libdevice
from triton.runtime import autotuner, driver, interpreter

Untyped: TypeAlias = Any
"""A thing of Triton's, which has types for none of them."""
PROPERTIES = {
    "max_shared_mem": 227 << 10, "max_num_regs": 1 << 16, "multiprocessor_count": 132, "warpSize": 32,
    "sm_clock_rate": 1_980_000, "mem_clock_rate": 3_201_000, "mem_bus_width": 6144,
}  # fmt: skip
"""An H200's, as Triton's driver names them."""
CAPABILITY = 90


class DriverWithoutGpu(DriverBase):  # type: ignore[misc]  # triton is not there where types are checked
    """Answers as the driver of an H200."""

    utils = SimpleNamespace(get_device_properties=lambda *_: dict(PROPERTIES))

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", CAPABILITY, PROPERTIES["warpSize"])

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Untyped:
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., list[float]]:
        return run_once

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, _: object) -> None: ...

    def get_current_stream(self, _: object = 0) -> int:
        return 0

    def get_device_capability(self, _: object = 0) -> tuple[int, int]:
        return divmod(CAPABILITY, 10)


def run_once(call: Callable[[], object], *_: object, **__: object) -> list[float]:
    """Run what is to be measured, once; all take the same time."""
    call()
    return [1.0, 1.0, 1.0]


class CompiledKernel:
    """What a warm-up returns: a kernel with the figures of a small one, which can be launched."""

    n_regs, n_spills, n_max_threads = 32, 0, 1024
    metadata = SimpleNamespace(shared=1024, num_warps=4, num_ctas=1, num_stages=3)

    def __init__(self, kernel: Untyped) -> None:
        self._kernel = kernel

    def _init_handles(self) -> None: ...

    def __getitem__(self, grid: Untyped) -> Callable[..., object]:
        """Launch it."""
        return lambda *args, **named: self._kernel.run(*args, grid=grid, warmup=False, **named)


def install() -> None:
    """Replace what a missing GPU leaves unanswered."""
    driver.set_active(DriverWithoutGpu())
    bench = autotuner.Autotuner._bench

    def rank_after_a_run(self: Untyped, *args: Untyped, config: Untyped, **named: Untyped) -> list[float]:
        """The rank of a configuration; the first of a tuning runs the kernel before, as a GPU does with each.

        A kernel that adds to its output has added to it then, unless it says `reset_to_zero` or `restore_value`.
        """
        if getattr(self, "kfuzz_tuned", None) is not self.nargs:
            self.kfuzz_tuned, measured, self._do_bench = self.nargs, self._do_bench, run_once
            try:
                bench(self, *args, config=config, **named)
            finally:
                self._do_bench = measured
        return rank_config(*args, config=config, **named)

    autotuner.Autotuner._bench = rank_after_a_run
    convert, run = interpreter._implicit_cvt, interpreter.InterpretedFunction.run

    def convert_argument(given: Untyped) -> Untyped:
        """A float argument is a scalar of 32 bits, as on a GPU; the interpreter leaves it a number of Python."""
        if not isinstance(given, float):
            return convert(given)
        with np.errstate(over="ignore"):
            return tl.tensor(interpreter.TensorHandle(np.array([given], np.float32), tl.float32), tl.float32)

    def run_kernel(self: Untyped, *given: Untyped, grid: Untyped, warmup: bool, **named: Untyped) -> object:
        return CompiledKernel(self) if warmup else run(self, *given, grid=grid, warmup=False, **named)

    begin = interpreter.GridExecutor.__init__

    def begin_launch(self: Untyped, function: Untyped, *given: Untyped, **named: Untyped) -> None:
        """A constant may be declared in a string, `BLOCK: "tl.constexpr"`; the interpreter may quote it once more."""
        begin(self, function, *given, **named)
        words = {name: of for name, of in function.__annotations__.items() if isinstance(of, str)}
        self.constexprs += [name for name, of in words.items() if of.strip("'\"").rpartition(".")[2] == "constexpr"]

    interpreter.GridExecutor.__init__ = begin_launch
    interpreter._implicit_cvt = convert_argument
    interpreter.InterpretedFunction.run = run_kernel
    interpreter.InterpreterBuilder.create_extern_elementwise = call_libdevice
    for name, function in inspect.getmembers(libdevice, tl.core.is_builtin):
        ours = functools.partial(function, _semantic=interpreter.interpreter_semantic)
        setattr(libdevice, name, ours)
        setattr(portable, name, ours)


def rank_config(*args: Untyped, config: Untyped, **named: Untyped) -> list[float]:
    """Times by which autotune chooses a configuration: another one for other sizes, the same in every process."""
    sizes = [tuple(one.shape) if isinstance(one, torch.Tensor) else one for one in (*args, *named.values())]
    return [float(zlib.crc32(f"{config} {[one for one in sizes if isinstance(one, int | tuple)]}".encode()))] * 3


def special(name: str) -> Callable[..., Any]:
    """A function of torch.special, of arrays."""
    return lambda *given: getattr(torch.special, name)(*map(torch.from_numpy, given)).numpy()


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "floor", "ceil", "trunc", "rint", "hypot", "copysign", "fmod", "nextafter",
    )},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: special(name) for name in ("erf", "erfc", "erfcx")},
    "erfinv": special("erfinv"), "normcdf": special("ndtr"), "normcdfinv": special("ndtri"),
    "lgamma": special("gammaln"),
    "j0": special("bessel_j0"), "j1": special("bessel_j1"), "y0": special("bessel_y0"), "y1": special("bessel_y1"),
    "rsqrt": lambda x: 1 / np.sqrt(x), "rcbrt": lambda x: 1 / np.cbrt(x), "exp10": lambda x: 10.0**x,
    "fabs": np.abs, "abs": np.abs, "pow": np.power, "powi": np.power, "atan2": np.arctan2, "fmax": np.fmax,
    "fmin": np.fmin, "max": np.maximum, "min": np.minimum, "nearbyint": np.rint, "fdim": lambda x, y: np.fmax(x - y, 0),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "fma": lambda x, y, z: x * y + z,
    "isnan": np.isnan, "isinf": np.isinf, "finite": np.isfinite, "isfinited": np.isfinite, "signbit": np.signbit,
    "sinpi": lambda x: np.sin(np.pi * x), "cospi": lambda x: np.cos(np.pi * x),
    "fast_exp": np.exp, "fast_log": np.log, "fast_log2": np.log2, "fast_log10": np.log10, "fast_sin": np.sin,
    "fast_cos": np.cos, "fast_tan": np.tan, "fast_pow": np.power, "fast_divide": np.divide, "fast_divid": np.divide,
    "fast_exp10": lambda x: 10.0**x, "saturate": lambda x: np.fmin(np.fmax(x, 0), 1),
    "div_rn": np.divide, "fdiv_rn": np.divide, "rcp_rn": lambda x: 1 / x, "frcp_rn": lambda x: 1 / x,
    "sqrt_rn": np.sqrt, "fsqrt_rn": np.sqrt, "add_rn": np.add, "fadd_rn": np.add, "mul_rn": np.multiply,
    "fmul_rn": np.multiply, "sub_rn": np.subtract, "fsub_rn": np.subtract, "fma_rn": lambda x, y, z: x * y + z,
    "fmaf_rn": lambda x, y, z: x * y + z,
}  # fmt: skip
"""libdevice's functions by CUDA's names. Each is computed in float64 and rounded once, closer than on a GPU."""


def call_libdevice(
    self: Untyped, library: str, path: str, symbol: str, args: Sequence[Untyped], returned: Untyped, is_pure: bool
) -> Untyped:
    """A function of libdevice on values of the interpreter."""
    name = symbol.removeprefix("__nv_")
    function = FUNCTIONS.get(name) or FUNCTIONS.get(name.removesuffix("f"))
    if function is None:
        raise NotImplementedError(f"{symbol} of libdevice is not there without a GPU")
    of = returned.scalar
    with np.errstate(all="ignore"):
        value = np.asarray(function(*(one.data.astype(np.float64) for one in args)))
        return interpreter.TensorHandle(value.astype(interpreter._get_np_dtype(of)), of)

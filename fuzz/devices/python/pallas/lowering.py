"""What JAX makes of a Pallas kernel: Triton's code, for the GPU that the process imitates.

Knows JAX's lowering, and nothing of what becomes of the code.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, NoReturn, TypeAlias

import jax
from jax._src.pallas import pallas_call
from jax._src.pallas.triton import lowering
from jax._src.pallas.triton.pallas_call_registration import normalize_grid
from jax.experimental.pallas import triton as pallas_triton

from kfuzz.devices import ClaimError, UnsupportedError
from kfuzz.devices.python.extensions import CALLS
from kfuzz.devices.python.imitated_gpu import GPU
from kfuzz.devices.python.pallas.compiling import TritonCode
from kfuzz.devices.python.triton.driver import number_of

PallasValue: TypeAlias = Any
"""A thing of JAX's, which has types for few of them."""
GPU_INFO = "jax._src.pallas.triton.gpu_info"
WARPS, STAGES = 4, 3
"""Those of a call that says none, as JAX documents them."""
UNKNOWN = re.compile(r"^(#loc\d* = )loc\(unknown\)$", re.MULTILINE)
NAMED = re.compile(r'\bloc\("[^"\n]*"\((#loc\d*)\)\)')
"""A place with the name of an operation or a function: Triton does not look for inlined functions below one."""


class ModuleMade(Exception):  # noqa: N818  no error: it leaves JAX's lowering, which would pass the code on to XLA
    """Triton's code of a call."""

    def __init__(self, text: str, grid: tuple[int, int, int]) -> None:
        super().__init__("the kernel is lowered")
        self.text, self.grid = text, grid


def install() -> None:
    """Trace kernels as under jax.jit, and keep what they are lowered to."""
    pallas_call._trace_kernel_to_jaxpr = as_under_jit(pallas_call._trace_kernel_to_jaxpr)
    lower = lowering.lower_jaxpr_to_triton_module

    def lower_and_leave(jaxpr: PallasValue, grid: PallasValue, platform: str, _: int, **more: PallasValue) -> None:
        made = lower(jaxpr, grid, platform, number_of(GPU.capability), **more)
        text = made.module.operation.get_asm(enable_debug_info=True)
        raise ModuleMade(with_lines(text, jaxpr.debug_info), normalize_grid(made.grid))

    lowering.lower_jaxpr_to_triton_module = lower_and_leave
    if find_spec(GPU_INFO) is not None:
        of_gpu: PallasValue = import_module(GPU_INFO)
        of_gpu.get_gpu_info = imitated_gpu


def imitated_gpu() -> SimpleNamespace:
    """What JAX's lowering asks of a GPU since 0.11."""
    return SimpleNamespace(compute_capability=number_of(GPU.capability))


def with_lines(text: str, about: PallasValue) -> str:
    """Triton's code with places as Triton reads them: without JAX's names, and for the kernel itself its own line."""
    if about.func_filename and about.func_lineno:
        own = f"loc({json.dumps(about.func_filename)}:{about.func_lineno}:0)"
        text = UNKNOWN.sub(lambda of: f"{of[1]}{own}", text)
    return NAMED.sub(lambda of: f"loc({of[1]})", text)


def as_under_jit(trace: Callable[..., PallasValue]) -> Callable[..., PallasValue]:
    """Without jax.jit JAX unrolls the loops of a kernel, which are loops on a GPU."""

    @functools.wraps(trace)
    def traced(*given: PallasValue, **named: PallasValue) -> PallasValue:
        with jax.disable_jit(False):
            return trace(*given, **named)

    return traced


def lower_call(given: Sequence[PallasValue], about: Mapping[str, PallasValue]) -> TritonCode:
    """The code of a call of a kernel with these arrays."""
    options = about["compiler_params"] or pallas_triton.CompilerParams()
    if not isinstance(options, pallas_triton.CompilerParams):
        compiler = type(options).__module__.removeprefix("jax._src.pallas.").partition(".")[0]
        refuse(f"compiler_params of {compiler}, and the cpu device runs what Triton compiles: give those of triton")
    about = {**about, "compiler_params": options}
    try:
        with jax.disable_jit(False):
            call = jax.jit(lambda *arrays: pallas_call.pallas_call_p.bind(*arrays, **about))
            call.trace(*given).lower(lowering_platforms=("cuda",))
    except ModuleMade as made:
        return TritonCode(made.text, made.grid, options.num_warps or WARPS, options.num_stages or STAGES)
    except Exception as error:
        raise error from None  # JAX gives it as the cause of itself where the kernel was called
    return refuse(f"JAX {jax.__version__} does not lower this call to Triton's code as 0.10 does")


def refuse(what: str) -> NoReturn:
    """Refuse what the cpu device does not take."""
    trouble: ClaimError = UnsupportedError(f"Pallas: {what}; or use --device gpu")
    CALLS.trouble = trouble
    raise trouble

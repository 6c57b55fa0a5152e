"""Triton: its kernels take torch's tensors. Without a GPU the cpu device runs the PTX that it compiles (triton/)."""

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.triton.driver")
on_gpu = import_late("kfuzz.devices.python.triton.on_gpu")


def install() -> None:
    """Let the cpu device run what Triton launches."""
    driver.install()


def watch() -> None:
    """Note what the products of its kernels make of their operands."""
    on_gpu.watch()


LIBRARY = PythonLibrary(
    "triton",
    ("triton",),
    0,
    arrays="torch",
    # exp becomes an ex2.approx of a product, a division a div.full, and each thread divides by a sum of its own; exp2,
    # sqrt and what else comes from libdevice flush denormals: Liger's softmax, by exp2, is 0 at 1.2e-41
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    decorators=("triton.jit", "gluon.jit", "triton.autotune", "triton.heuristics"),
    of_gpu=("triton",),
    compile_errors=("CompilationError",),
    run_without_gpu=install,
    watch_on_gpu=watch,
    extra="triton",
)

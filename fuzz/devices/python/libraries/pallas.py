"""Pallas: its kernels take JAX's arrays. Without a GPU the cpu device runs what Triton compiles of them (pallas/)."""

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.pallas.driver")


def install() -> None:
    """Let the cpu device run what Pallas launches."""
    driver.install()


LIBRARY = PythonLibrary(
    "pallas",
    ("jax.experimental.pallas",),
    1,
    arrays="jax",
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    launchers=("pallas_call",),
    of_gpu=("jax.experimental.pallas",),
    compilers=(
        "kfuzz.devices.python.pallas.lowering.lower_call",
        "kfuzz.devices.python.pallas.compiling.compile_code",
        "jax._src.pallas.pallas_call.cpu_lowering",  # where JAX compiles for itself what calls a kernel
    ),
    run_without_gpu=install,
    extra="pallas",
)

"""CuTe DSL: its kernels take torch's tensors. Without a GPU the cpu device runs the PTX that it compiles (cute/)."""

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.cute.driver")


def install() -> None:
    """Let the cpu device run what CuTe DSL launches."""
    driver.install()


LIBRARY = PythonLibrary(
    "cute",
    ("cutlass.cute",),
    0,
    arrays="torch",
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    decorators=("cute.kernel", "cute.jit"),
    of_gpu=("cutlass",),
    compilers=("cutlass.base_dsl.dsl.generate_original_ir",),  # it runs the kernel's own Python
    run_without_gpu=install,
    extra="cute",
)

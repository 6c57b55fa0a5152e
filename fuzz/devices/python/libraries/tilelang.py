"""TileLang: its kernels take torch's tensors. Without a GPU the cpu device runs nvcc's PTX of them (tilelang/)."""

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.tilelang.driver")


def install() -> None:
    """Let the cpu device run what TileLang launches."""
    driver.install()


LIBRARY = PythonLibrary(
    "tilelang",
    ("tilelang",),
    0,
    arrays="torch",
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    decorators=("tilelang.jit", "T.prim_func"),
    of_gpu=("tilelang", "tvm"),
    launch_error="CUDALaunch Error",
    compilers=("tilelang.jit.kernel._compile_and_create_adapter",),
    run_without_gpu=install,
    extra="tilelang",
)

"""Warp: arrays over kfuzz's memory, where a file does not take torch's. kfuzz does not see its allocations on a GPU.

Without a GPU its arrays lie in the host's memory, and the cpu device runs the PTX that Warp compiles (warp/).
"""

from kfuzz.devices.python.lending import Lender
from kfuzz.devices.python.library import PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.warp.driver")
arrays = import_late("kfuzz.devices.python.warp.arrays")


def lender(on_gpu: bool, guard_all: bool) -> Lender:
    """Warp's arrays."""
    made: Lender = arrays.WarpArrays() if on_gpu else arrays.WarpHostArrays()
    return made


def install() -> None:
    """Let the cpu device run what Warp launches."""
    driver.install()


LIBRARY = PythonLibrary(
    "warp",
    ("warp",),
    3,
    lender,
    takes_torch=True,
    decorators=tuple(
        f"{module}.{one}"
        for module in ("wp", "warp")
        for one in ("kernel", "func", "func_native", "func_grad", "func_replay", "struct")
    ),
    of_releases=("warp",),
    compilers=("warp._src.context._run_codegen", "warp._src.context._raise_recorded_build_error"),
    extra="warp",
    run_without_gpu=install,
)

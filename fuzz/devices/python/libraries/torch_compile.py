"""torch.compile: it writes Triton for a GPU. Without one the cpu device runs what it has written (torch/compiling.py).

Without Triton it leaves functions as they are.
"""

from importlib.util import find_spec

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.triton.driver")
compiling = import_late("kfuzz.devices.python.torch.compiling")


def install() -> None:
    """Let the cpu device run what torch.compile makes, where Triton is installed."""
    if find_spec("triton") is not None:
        driver.install()
        compiling.install()


LIBRARY = PythonLibrary(
    "torch.compile",
    ("torch.compile",),
    0,
    arrays="torch",
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    run_without_gpu=install,
    extra="triton",
)

"""Helion: its kernels take torch's tensors. Without a GPU the cpu device runs the Triton that it writes (helion/)."""

from kfuzz.devices.python.library import Arithmetic, PythonLibrary, import_late

driver = import_late("kfuzz.devices.python.helion.driver")


def install() -> None:
    """Let the cpu device run what Helion launches."""
    driver.install()


LIBRARY = PythonLibrary(
    "helion",
    ("helion",),
    0,
    arrays="torch",
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    decorators=(),
    run_without_gpu=install,
    extra="helion",
)

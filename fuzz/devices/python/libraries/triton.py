"""Triton: its kernels take torch's tensors. Without a GPU its own interpreter runs them (triton/programs.py)."""

from kfuzz.devices.python.library import Arithmetic, Interpreter, PythonLibrary, import_late

programs = import_late("kfuzz.devices.python.triton.programs")


def interpreter() -> Interpreter:
    """Triton's own, with each load and store looked at."""
    watch: Interpreter = programs.WATCH
    return watch


LIBRARY = PythonLibrary(
    "triton",
    ("triton",),
    0,
    arrays="torch",
    # exp becomes an ex2.approx of a product, a division a div.full, and each thread divides by a sum of its own; exp2,
    # sqrt and what else comes from libdevice flush denormals: Liger's softmax, by exp2, is 0 at 1.2e-41
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element", ftz=True),
    decorators=("triton.jit", "triton.autotune", "triton.heuristics"),
    of_gpu=("triton",),
    interpreter=interpreter,
    environment={"TRITON_INTERPRET": "1"},  # torch imports Triton, which reads it then
    extra="triton",
)

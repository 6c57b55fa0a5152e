"""Triton: its kernels take torch's tensors. Without a GPU its own interpreter runs them (triton/programs.py)."""

from kfuzz.callables.library import Arithmetic, Interpreter, PythonLibrary, import_late

programs = import_late("kfuzz.callables.triton.programs")


def interpreter() -> Interpreter:
    """Triton's own, with each load and store looked at."""
    watch: Interpreter = programs.WATCH
    return watch


LIBRARY = PythonLibrary(
    "triton",
    ("triton",),
    0,
    arrays="torch",
    # exp becomes an ex2.approx of a product, a division a div.full, and each thread divides by a sum of its own
    arithmetic=Arithmetic(exp="__expf", divide="fast reciprocal", denominator="element"),
    decorators=("triton.jit", "triton.autotune", "triton.heuristics"),
    of_gpu=("triton",),
    interpreter=interpreter,
    environment={"TRITON_INTERPRET": "1"},  # torch imports Triton, which reads it then
    extra="triton",
)

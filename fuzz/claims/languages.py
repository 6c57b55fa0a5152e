"""What arithmetic a Python callable is held to where its claim is silent: what its library, or compiler, does.

Knows what their makers document; never a claim.
"""

from dataclasses import dataclass
from typing import Literal

from kfuzz.claims.python_text import PythonText
from kfuzz.oracle.rounding import EXPF, FAST_EXPF, Denominator, Divide, ExpModel

Language = Literal["numpy", "torch", "jax", "cupy", "numba", "triton"]


@dataclass(frozen=True)
class Arithmetic:
    """The models of an accuracy that differ from language to language."""

    exp: ExpModel = EXPF
    divide: Divide = "reciprocal"
    denominator: Denominator = "row"
    ftz: bool = False


ARITHMETIC: dict[Language, Arithmetic] = {
    "numpy": Arithmetic(exp=ExpModel(5.04, 0.0)),
    "torch": Arithmetic(),
    "jax": Arithmetic(ftz=True),
    "cupy": Arithmetic(ftz=True),
    "numba": Arithmetic(),
    "triton": Arithmetic(exp=FAST_EXPF, divide="fast reciprocal", denominator="element"),
}
"""numpy states 2.52 ulp for its float32 exp. torch calls SLEEF's functions of 1.0 ulp, and CUDA's expf. XLA and CuPy
run with denormals flushed what they compile. Numba calls CUDA's functions. Triton makes of exp an ex2.approx of a
product, of a division a div.full, and lets each thread divide by a sum of its own. Each but numpy and Numba is held
against its compiler by benchmarks/tightness/languages.py."""


def language_of(text: PythonText) -> Language:
    """The language that a file is written in: Triton where it has kernels in it, else the library of its arrays."""
    return "triton" if "triton" in text.packages else text.library

"""Each operation of a submission by torch's own decomposition into others; the text is added to the submission."""

from torch._decomp import core_aten_decompositions
from torch.utils._python_dispatch import TorchDispatchMode

DECOMPOSITIONS = core_aten_decompositions()
forward = ModelNew.forward  # noqa: F821  of the submission


class Decomposed(TorchDispatchMode):
    """Calls the decomposition of an operation, if torch has one."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204  as torch calls it
        made = DECOMPOSITIONS.get(func)
        if made is None:
            return func(*args, **(kwargs or {}))
        with self:
            return made(*args, **(kwargs or {}))


def decomposed(self, *inputs):  # noqa: ANN001, ANN002, ANN201  inputs of any problem
    """The model's own answer, by other operations."""
    with Decomposed():
        return forward(self, *inputs)


ModelNew.forward = decomposed  # noqa: F821  of the submission

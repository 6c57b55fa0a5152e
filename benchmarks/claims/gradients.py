"""A task of robust-kbench that asks for gradients, with torch's own as a submission to it.

    python -m benchmarks.claims.gradients TASK/func_backward.py

It prints the task's file and a function `backward`, which takes what the task hands to `backward_fn`.
"""

import sys
from pathlib import Path

import torch

from kfuzz.claims.references.torch.configs import values_in
from kfuzz.claims.references.torch.model_functions import (
    GRADIENT,
    GRADIENTS,
    arguments_of_backward,
    call_at,
    declared_by,
)
from kfuzz.devices.python.loading import execute_file

SUBMISSION = """

def backward({handed}):
    {wanted}, = ({made},)
    with torch.enable_grad():
        answer = forward_fn({given})
        found = torch.autograd.grad(answer, ({wanted},), {gradient}.reshape(answer.shape))
    return found if len(found) > 1 else found[0]
"""


def submission_of(path: Path) -> str:
    """The text of the task and of its gradients; an input that the task does not hand over is a tensor of zeros."""
    source = path.read_text(encoding="utf-8")
    module = execute_file(path, source, 0)
    values = values_in(path.with_name("config_backward.json").read_text(encoding="utf-8"))
    known = call_at(module, values)
    dims = declared_by(module, values, known).dims
    with torch.device("meta"):
        incoming = torch.empty_like(known.answer)
        handed, wanted = arguments_of_backward(getattr(module, GRADIENTS), known, incoming)
    of_tensor = {id(incoming): GRADIENT, **{id(one): name for name, one in known.values.items()}}
    names = [of_tensor[id(one)] if isinstance(one, torch.Tensor) else f"number_{at}" for at, one in enumerate(handed)]
    sizes = {d: f"{name}.shape[{axis}]" for name in names if name in dims for axis, d in enumerate(dims[name])}
    made = {
        name: name if name in names else f"torch.zeros([{', '.join(sizes[d] for d in dims[name])}])" for name in wanted
    }
    given = (name if isinstance(one, torch.Tensor) else repr(one) for name, one in known.values.items())
    return source + SUBMISSION.format(
        handed=", ".join(names),
        wanted=", ".join(wanted),
        made=", ".join(f"{one}.detach().requires_grad_()" for one in made.values()),
        given=", ".join(given),
        gradient=GRADIENT,
    )


if __name__ == "__main__":
    print(submission_of(Path(sys.argv[1])))

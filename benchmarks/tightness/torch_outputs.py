"""Record torch's answers on a GPU to the rows of tests/helpers/torch_rows.py.

    python benchmarks/tightness/torch_outputs.py tests/data/torch_outputs.json

It keeps the answers as hexadecimal bits, one text for each op, format and way to compute it;
tests/oracle/test_torch_outputs.py judges them.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812  its own documentation calls it so
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))
from torch_rows import FORMAT_NAMES, inputs

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
Given = dict[str, Any]

OPS: dict[str, Callable[[Given], Any]] = {
    "softmax": lambda g: F.softmax(g["x"], -1),
    "log_softmax": lambda g: F.log_softmax(g["x"], -1),
    "logsumexp": lambda g: torch.logsumexp(g["x"], -1),
    "cross_entropy": lambda g: F.cross_entropy(g["x"], g["labels"].long(), reduction="none"),
    "layer_norm": lambda g: F.layer_norm(g["x"], g["w"].shape, g["w"], g["b"], 1e-5),
    "rms_norm": lambda g: F.rms_norm(g["x"], g["w"].shape, g["w"], 1e-6),
    "gelu": lambda g: F.gelu(g["x"]),
    "gelu_tanh": lambda g: F.gelu(g["x"], approximate="tanh"),
    "silu": lambda g: F.silu(g["x"]),
    "row_sum": lambda g: g["x"].sum(-1),
    "prefix_sum": lambda g: g["x"].cumsum(-1),
    "argmax": lambda g: g["x"].argmax(-1),
    "top_k": lambda g: torch.topk(g["x"], 5, -1),
}
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}


def bits(x: Any) -> str:  # noqa: ANN401  a tensor
    """The bits of a tensor; whole numbers as 32 of them."""
    if not x.dtype.is_floating_point:
        return str(x.cpu().numpy().astype("<i4").tobytes().hex())
    return str(x.cpu().contiguous().view(torch.int32 if x.element_size() == 4 else torch.int16).numpy().tobytes().hex())


def inputs_on_gpu(op: str, kind: str) -> Given:
    """The inputs on the GPU, by their bits."""
    made = {}
    for role, array in inputs(op, kind).items():
        signed = array.view(f"i{array.itemsize}")
        tensor = torch.from_numpy(np.ascontiguousarray(signed)).cuda()
        made[role] = tensor if array.dtype == np.int32 and role == "labels" else tensor.view(TYPES[kind])
    return made


def attention(op: str, kind: str) -> dict[str, str]:
    """Attention by every way that torch has for this format."""
    g, found = inputs_on_gpu(op, kind), {}
    q, k, v = (g[role][None] for role in "qkv")
    for name, backend in BACKENDS.items():
        try:
            with sdpa_kernel([backend]):
                made = F.scaled_dot_product_attention(q, k, v, is_causal="causal" in op)
        except RuntimeError as error:
            print(f"{op} {kind} {name}: {str(error).splitlines()[0]}")
            continue
        found[f"{op} {kind} {name}"] = bits(made[0])
    return found


def main() -> None:
    answers: dict[str, Any] = {}
    for kind in FORMAT_NAMES:
        for op, call in OPS.items():
            made = call(inputs_on_gpu(op, kind))
            answers[f"{op} {kind}"] = [bits(one) for one in made] if isinstance(made, tuple) else bits(made)
        for op in ("attention", "causal_attention"):
            answers |= attention(op, kind)
    on = {"torch": torch.__version__, "card": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
    text = json.dumps({"measured_on": on, "answers": answers}, indent=1)
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
    print(f"{len(answers)} answers of torch {torch.__version__}")


if __name__ == "__main__":
    main()

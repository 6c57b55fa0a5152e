"""Many trials of correct callables of torch, Triton, CuPy and JAX: how many are accused, and where the time goes.

    python -m benchmarks.cost measure callables gpu [TRIALS] [JOBS] [SECONDS] [SEED]

It runs TRIALS trials in all (default: 20,000), or as many as SECONDS allow; a library that is not installed is left
out.
Long, since it has a right callable of each library.
"""

import importlib.util
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

from benchmarks.measurement import Figures
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.campaign.trials.unjudged import unjudged_text
from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, DeviceError
from kfuzz.devices.python.device import PythonDevice

ELEMENTS = 1 << 12
WIDTHS = {"numpy": 1, "torch": 8, "triton": 6, "cupy": 2, "jax": 2}
"""The number of processes that run each library's callables."""
SHARE = {"numpy": 4, "torch": 9, "triton": 6, "cupy": 4, "jax": 1}
"""The relative number of trials of a callable: JAX compiles each shape separately."""
SHOWN = 3
"""The number of accusations of one callable that are printed."""
NARROW = ("f32", "f16", "bf16")

ROWS = {
    "softmax": ("x: rows cols -> y: rows cols", ""),
    "log_softmax": ("x: rows cols -> y: rows cols", ""),
    "layer_norm": ("x: rows cols, w: cols, b: cols -> y: rows cols", ""),
    "rms_norm": ("x: rows cols, w: cols -> y: rows cols", 'keep = { normed = "TYPE" }'),
    "attention": (
        "q: heads rows d, k: heads keys d, v: heads keys dv -> o: heads rows dv",
        'exp = "__exp2f scaled"\naccumulate = "mma"\nkeep = { e = "TYPE" }\ndivide = "fast reciprocal"\n'
        'flags = ["-ftz=true"]',
    ),
}
"""The arrays of an op, and its claim for narrow arrays."""
TF32 = 'exp = "__exp2f scaled"\naccumulate = "mma"\noperand = "tf32"'
"""On a GPU, torch's attention of float32 multiplies on tensor cores."""
AXES = {"heads": "1..4", "rows": "1..64", "keys": "1..96", "d": "1..64", "dv": "1..64", "cols": "1..4096"}
FEW = {"rows": "[1, 3, 64]", "cols": "[1, 2, 33, 1000]", "heads": "[2]", "keys": "[1, 17]", "d": "[1, 16]", "dv": "[8]"}

TORCH = {
    "softmax": "def forward(x):\n    return torch.softmax(x, -1)\n",
    "log_softmax": "def forward(x):\n    return torch.log_softmax(x, -1)\n",
    "layer_norm": "def forward(x, w, b):\n    return F.layer_norm(x, x.shape[-1:], w, b, 1e-5)\n",
    "rms_norm": "def forward(x, w):\n    return F.rms_norm(x, x.shape[-1:], w, 1e-6)\n",
    "attention": "def forward(q, k, v):\n    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]\n",
}
JAX = {
    "softmax": "def forward(x):\n    return jax.nn.softmax(x, axis=-1)\n",
    "log_softmax": "def forward(x):\n    return jax.nn.log_softmax(x, axis=-1)\n",
    "layer_norm": (
        "@jax.jit\ndef forward(x, w, b):\n    m = x.mean(-1, keepdims=True)\n"
        "    return (x - m) * jax.lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * w + b\n"
    ),
    "rms_norm": (
        "@jax.jit\ndef forward(x, w):\n    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w\n"
    ),
}
CUPY = {
    "softmax": "def forward(x):\n    return cupyx.scipy.special.softmax(x, axis=-1)\n",
    "log_softmax": "def forward(x):\n    return cupyx.scipy.special.log_softmax(x, axis=-1)\n",
    "layer_norm": (
        "def forward(x, w, b):\n    m = x.mean(-1, keepdims=True)\n"
        "    return (x - m) / cupy.sqrt(((x - m) ** 2).mean(-1, keepdims=True) + cupy.float32(1e-5)) * w + b\n"
    ),
    "rms_norm": (
        "def forward(x, w):\n    return x / cupy.sqrt((x * x).mean(-1, keepdims=True) + cupy.float32(1e-6)) * w\n"
    ),
}
JAX_NARROW = {
    "softmax": "def forward(x):\n    return jax.nn.softmax(x.astype('float32'), axis=-1).astype(x.dtype)\n",
    "log_softmax": "def forward(x):\n    return jax.nn.log_softmax(x.astype('float32'), axis=-1).astype(x.dtype)\n",
    "layer_norm": (
        "@jax.jit\ndef forward(x, w, b):\n    v, w, b = (each.astype('float32') for each in (x, w, b))\n"
        "    m = v.mean(-1, keepdims=True)\n    r = jax.lax.rsqrt(((v - m) ** 2).mean(-1, keepdims=True) + 1e-5)\n"
        "    return ((v - m) * r * w + b).astype(x.dtype)\n"
    ),
    "rms_norm": (
        "@jax.jit\ndef forward(x, w):\n    v, w = x.astype('float32'), w.astype('float32')\n"
        "    return (v * jax.lax.rsqrt((v * v).mean(-1, keepdims=True) + 1e-6) * w).astype(x.dtype)\n"
    ),
}
"""In 16 bits as models write them: in float32, and rounded once. The libraries' own, which round at each step, are in
docs/found.md."""
CUPY_NARROW = {
    "softmax": "def forward(x):\n    return cupyx.scipy.special.softmax(x.astype('f4'), axis=-1).astype(x.dtype)\n",
    "log_softmax": (
        "def forward(x):\n    return cupyx.scipy.special.log_softmax(x.astype('f4'), axis=-1).astype(x.dtype)\n"
    ),
    "layer_norm": (
        "def forward(x, w, b):\n    v, w, b = (each.astype('f4') for each in (x, w, b))\n"
        "    m = v.mean(-1, keepdims=True)\n"
        "    s = cupy.sqrt(((v - m) ** 2).mean(-1, keepdims=True) + cupy.float32(1e-5))\n"
        "    return ((v - m) / s * w + b).astype(x.dtype)\n"
    ),
    "rms_norm": (
        "def forward(x, w):\n    v, w = x.astype('f4'), w.astype('f4')\n"
        "    return (v / cupy.sqrt((v * v).mean(-1, keepdims=True) + cupy.float32(1e-6)) * w).astype(x.dtype)\n"
    ),
}
NUMPY = {name: text.replace("cupyx.scipy.special.softmax(x, axis=-1)", "np.exp(x - x.max(-1, keepdims=True)) / "
         "np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)").replace("cupy.", "np.")
         for name, text in CUPY.items() if name != "log_softmax"}  # fmt: skip
HEADS = {
    "torch": "import torch\nimport torch.nn.functional as F\n",
    "triton": "import torch\nimport triton\nimport triton.language as tl\n",
    "jax": "import jax\n",
    "cupy": "import cupy\nimport cupyx.scipy.special\n",
    "numpy": "import numpy as np\n",
}
BY_ROW = """@triton.jit
def kernel(y, x, {names}cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * cols + c, mask=inside, other={other}).to(tl.float32)
{body}    tl.store(y + row * cols + c, r, mask=inside)


def forward(x{called}):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](y, x{called}, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
"""
WEIGHT = "    w_ = tl.load(w + c, mask=inside, other=0.0).to(tl.float32)\n"
BIAS = "    b_ = tl.load(b + c, mask=inside, other=0.0).to(tl.float32)\n"
STEPS = {
    "softmax": ('-float("inf")', (), "    e = tl.exp(v - tl.max(v, 0))\n    r = e / tl.sum(e, 0)\n"),
    "log_softmax": ('-float("inf")', (), "    t = v - tl.max(v, 0)\n    r = t - tl.log(tl.sum(tl.exp(t), 0))\n"),
    "layer_norm": (
        "0.0",
        ("w", "b"),
        WEIGHT + BIAS + "    t = tl.where(inside, v - tl.sum(v, 0) / cols, 0.0)\n"
        "    r = t * tl.rsqrt(tl.sum(t * t, 0) / cols + 1e-5) * w_ + b_\n",
    ),
    "rms_norm": ("0.0", ("w",), WEIGHT + "    r = v * tl.rsqrt(tl.sum(v * v, 0) / cols + 1e-6) * w_\n"),
}
TRITON = {
    op: BY_ROW.format(
        names="".join(f"{one}, " for one in more), called="".join(f", {one}" for one in more), other=other, body=body
    )
    for op, (other, more, body) in STEPS.items()
}
NARROW_TEXTS = {"jax": JAX_NARROW, "cupy": CUPY_NARROW}
TEXTS = {"torch": TORCH, "triton": TRITON, "cupy": CUPY, "jax": JAX, "numpy": NUMPY}


@dataclass(frozen=True)
class One:
    """A callable to test: its library, its op and its element type."""

    library: str
    op: str
    element: str

    @property
    def name(self) -> str:
        return f"{self.library}_{self.op}_{self.element}"

    @property
    def is_tame(self) -> bool:
        """Whether infinities are left out: for attention, and for rms_norm on a GPU, whose NaN docs/found.md describes.

        For a row of only -inf, torch's attention gives zero or NaN, depending on the way that it chooses.
        """
        return self.library == "torch" and self.op in ("attention", "rms_norm")

    def text(self, device: str) -> str:
        """Its file."""
        arrays, narrow = ROWS[self.op]
        claimed = "" if self.element == "f32" or self.library in NARROW_TEXTS else narrow.replace("TYPE", self.element)
        if self.library == "torch" and self.op == "attention" and self.element == "f32" and device == "gpu":
            claimed = TF32
        inputs, outputs = arrays.split(" -> ")
        told, sizes = [], []
        for arrow, side in (("->", inputs), ("<-", outputs)):
            for array in side.split(", "):
                name, dims = array.split(": ")
                sizes += dims.split() if arrow == "->" else []
                told.append(f'{name} = "{self.element}[{", ".join(dims.split())}] {arrow} {name}"')
        axes = FEW if self.library == "jax" else AXES
        each = ", ".join(
            f"{name} = {axes[name]}" if axes[name].startswith("[") else f'{name} = "{axes[name]}"'
            for name in dict.fromkeys(sizes)
        )
        lines = [f'op = "{self.op}"', f"axes = {{ {each} }}", f"arrays = {{ {', '.join(told)} }}"]
        lines += ["[accuracy]", *claimed.split("\n")] if claimed else []
        lines += ["[values]", "finite = true", "range = [-100, 100]"] if self.is_tame else []
        claim = "".join(f"# {line}\n" for line in lines)
        texts = NARROW_TEXTS.get(self.library, {}) if self.element != "f32" else {}
        text = texts.get(self.op) or TEXTS[self.library][self.op]
        return f"# /// kernel\n{claim}# ///\n{HEADS[self.library]}\n\n{text}"


@dataclass(frozen=True)
class Tried:
    """The results of a callable's trials. `first`: seconds of the first one, including its imports."""

    one: One
    trials: int = 0
    elements: int = 0
    worst: float = 0.0
    accused: tuple[str, ...] = ()
    first: float = 0.0
    seconds: float = 0.0
    calling: float = 0.0
    judging: float = 0.0
    reasons: tuple[str, ...] = field(default=())


def every(device: str) -> list[One]:
    """All callables that are installed and work on the device."""
    found = []
    for library, texts in TEXTS.items():
        if importlib.util.find_spec(library) is None or (library == "cupy" and device == "cpu"):
            continue
        types = {"numpy": ("f32",), "cupy": ("f32", "f16")}.get(library, NARROW)
        # PyTorch's CPU rounds log_softmax of 16 bits twice: docs/found.md
        known = {("torch", "log_softmax")} if device == "cpu" else set()
        found += [
            One(library, op, kind) for op in texts for kind in types if kind == "f32" or (library, op) not in known
        ]
    return found


def tried(work: tuple[Sequence[One], Sequence[int], int, str, str, float]) -> list[Tried]:
    """Some callables in one process, one after the other, each in so many trials, until the time is up."""
    ones, counts, seed, device, folder, until = work
    found, opened = [], PythonDevice(device)
    try:
        for one, count in zip(ones, counts, strict=True):
            path = Path(folder) / f"{one.name}.py"
            found.append(trials_of(one, (seed, count), opened, path, until, len(ones) - len(found)))
    finally:
        opened.close()
    return found


def trials_of(one: One, many: tuple[int, int], device: PythonDevice, path: Path, until: float, left: int) -> Tried:
    """A callable's trials, and where their time went; `left` callables share the time that the first one leaves."""
    path.write_text(one.text(device.name), encoding="utf-8")
    elements, worst, first, calling, judging, done = 0, 0.0, 0.0, 0.0, 0.0, 0
    seed, count = many
    accused: dict[str, None] = {}
    reasons: dict[str, None] = {}
    began = time.monotonic()
    try:
        kernel = load(path)
        for index in range(count):
            attempt = attempt_of(kernel, seed, index, ELEMENTS)
            trial = run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, seed, index, 2, 10.0))
            accused |= {f"{d.bucket}: {d.message} [{trial.case}]"[:400]: None for d in trial.errors}
            reasons |= dict.fromkeys(map(unjudged_text, trial.reasons))
            elements, worst, done = elements + trial.elements, max(worst, trial.ratio), done + 1
            if not index:
                first, began = time.monotonic() - began, time.monotonic()
                until = time.time() + max(0.0, until - time.time()) / left
            else:
                calling, judging = calling + trial.seconds["device"], judging + trial.seconds["oracle"]
            if time.time() > until:
                break
    except (ClaimError, DeviceError) as error:
        reasons[str(error)] = None
    seconds = time.monotonic() - began
    made = Tried(one, done, elements, worst, tuple(accused), first, seconds, calling, judging, tuple(reasons))
    print(f"{one.name}: {done} trials, {len(accused)} accused, {seconds:.1f} s, {list(reasons)[:1]}", file=sys.stderr)
    for text in accused:
        print(f"  ACCUSED {text}", file=sys.stderr)
    return made


def shared_out(ones: Sequence[One], trials: int, jobs: int) -> Iterator[tuple[list[One], list[int]]]:
    """The callables of each process, with their numbers of trials: all of one library, which is imported once."""
    whole = sum(SHARE[one.library] for one in ones)
    many = sum(WIDTHS[library] for library in {one.library for one in ones})
    for library, group in groupby(ones, key=lambda one: one.library):
        mine = list(group)
        width = max(1, min(len(mine), round(WIDTHS[library] * jobs / many)))
        for first in range(width):
            some = mine[first::width]
            yield some, [-(-trials * SHARE[library] // whole)] * len(some)


def measure(options: Sequence[str]) -> Figures:
    """Run them all."""
    given = dict(enumerate(options))
    device, trials, jobs = given.get(0, "cpu"), int(given.get(1, "20000")), int(given.get(2, "16"))
    seconds, seed = float(given.get(3, "3600")), int(given.get(4, "17"))
    began, done, until = time.monotonic(), list[Tried](), time.time() + seconds
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        work = [(*some, seed, device, folder, until) for some in shared_out(every(device), trials, jobs)]
        for part in as_completed([pool.submit(tried, one) for one in work]):
            done += part.result()
    done.sort(key=lambda one: one.one.name)
    numbers = {"device": device, "processes": len(work), "seconds": time.monotonic() - began, "seed": seed}
    libraries = dict.fromkeys(one.one.library for one in done)
    return Figures(numbers, {
        "libraries": [spent_in(name, [one for one in done if one.one.library == name]) for name in libraries],
        "callables": [
            {"name": f"{one.one.library} {one.one.op}", "type": one.one.element, "trials": one.trials,
             "elements": one.elements, "worst": one.worst, "accused": len(one.accused)}
            for one in done
        ],
        "accusations": [{"text": words} for one in done for words in one.accused[:SHOWN]],
    })  # fmt: skip


def spent_in(library: str, done: Sequence[Tried]) -> dict[str, object]:
    """The trials a second of a library's callables, and the shares of the time that they took."""
    mine = [one for one in done if one.trials > 1]
    spent = sum(one.seconds for one in mine) or 1.0
    calling, judging = sum(one.calling for one in mine) / spent, sum(one.judging for one in mine) / spent
    return {
        "library": library, "rate": sum(one.trials - 1 for one in mine) / spent, "calls": calling, "judging": judging,
        "planning": max(0.0, 1 - calling - judging), "first": max((one.first for one in mine), default=0.0),
    }  # fmt: skip

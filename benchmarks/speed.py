"""`python -m benchmarks.speed`: how fast the kernels here are on this card, beside torch, torch.compile and Triton.

Every figure is one of `kfuzz bench`: of kernels that the oracle keeps, by the protocol of docs/bench.md. What was
recorded is written size by size, so that a run that is ended has all that it has done.
"""

import argparse
from contextlib import closing
from pathlib import Path

from kfuzz.claims.kernel import load
from kfuzz.commands.bench import versions
from kfuzz.devices.gpu import driver
from kfuzz.devices.gpu.device import GpuDevice
from kfuzz.devices.gpu.graphs import session
from kfuzz.find.targets import find_one
from kfuzz.timing.bench import Timed, not_kept, race
from kfuzz.timing.figures import Heat, standing
from kfuzz.timing.sizes import shown, sizes_of
from kfuzz.views.timing import as_document, table

HERE = Path(__file__).parent
ALL = ("torch", "compile", "triton")
ROWS = (
    (1024, 512), (1024, 1024), (1024, 1023), (1024, 2048), (1024, 4096), (1024, 8192), (65536, 128), (32768, 256),
    (65536, 1024), (65536, 1023), (32768, 4096), (8192, 16384), (8192, 16383), (8192, 32768), (4096, 65536),
    (1024, 131072), (1024, 131071), (2048, 262144),
)  # fmt: skip
SOME = ((1024, 1024), (65536, 1024), (65536, 1023), (32768, 4096), (8192, 16384))
LADDER = ("naive_block", "online_block", "online_block_vec4", "cached_block", "dispatch", "fastest")
LONG = ((65536, 1024), (8192, 16384), (1024, 131072))
NORMS = ((65536, 1024), (32768, 4096), (8192, 16384))
LONG_NORMS = ((8192, 32768), (1024, 131072))
KERNELS: tuple[tuple[str, tuple[tuple[int, ...], ...], tuple[str, ...]], ...] = (
    ("softmax/fastest", ROWS, ALL),
    ("softmax/fastest_bf16", SOME, ALL),
    ("reduce/block_sum_vec4", ((1024, 4096), *LONG), ALL),
    ("reduce/block_max_vec4", LONG, ALL),
    ("transpose/tiled_vec4", ((4096, 4096), (4000, 3000)), ALL),
    ("rms_norm/block_in_registers", NORMS, ALL),
    ("layer_norm/block_in_registers", NORMS, ALL),
    ("rms_norm/row_in_cluster", LONG_NORMS, ALL),
    ("layer_norm/row_in_cluster", LONG_NORMS, ALL),
    *((f"softmax/{name}", ((32768, 4096),), ()) for name in LADDER),
)
"""Name, sizes, rivals."""

HEAD = """# How fast the kernels here are

Written by `python -m benchmarks.speed` on a {card}: CUDA {cuda}, nvcc {nvcc}{libraries}. Each figure is the
median of 30 graph replays over rotated buffers, in turns with its rivals and with copies in the same run
([docs/bench.md](../docs/bench.md)), and stands only where the oracle keeps what was timed. A fraction is of the best
of those copies; half of the replays lie within the spread. Under 1 % it is a tie.
"""


def main() -> None:
    """Time every kernel that was asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--only", default="", help="names of kernels begin with this")
    parser.add_argument("--against", default=",".join(ALL), help="which of torch,compile,triton are there")
    options = parser.parse_args()
    there = [name for name in options.against.split(",") if name]
    done: dict[tuple[str, bool], Timed] = {}
    with closing(GpuDevice()) as device, session() as card:
        for name, sizes, against in KERNELS:
            kernel = load(find_one(name))
            if not name.startswith(options.only) or (reason := not_kept(kernel, device)):
                print(name, reason if name.startswith(options.only) else "is left out", flush=True)
                continue
            heats: list[Heat] = []
            for axes in sizes_of(kernel, sizes):
                heats.append(race(card, kernel, axes, [rival for rival in against if rival in there]))
                done[name, len(sizes) == 1] = one = Timed(name, kernel.op, tuple(heats))
                print(*table(one)[-1 - len(heats[-1].kernels) - len(heats[-1].rivals) :], sep="\n", flush=True)
                write(options.out, done)


def write(folder: Path, done: dict[tuple[str, bool], Timed]) -> None:
    """The page, and all that was recorded."""
    card, made_with = driver.card().name, versions()
    libraries = "".join(f", {name} {made_with[name]}" for name in ("torch", "triton") if name in made_with)
    head = HEAD.format(card=card, cuda=made_with["cuda"], nvcc=made_with["nvcc"], libraries=libraries)
    parts = [head, *(section(one) for (_, is_rung), one in done.items() if not is_rung)]
    if ladder := [one for (_, is_rung), one in done.items() if is_rung]:
        parts.append(rungs(ladder))
    (folder / "SPEED.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "speed.json").write_text(as_document(list(done.values()), card, made_with), encoding="utf-8")


def section(one: Timed) -> str:
    """A table of one kernel: a line a size, a column a rival."""
    rivals = list(dict.fromkeys(rival.name for heat in one.races for rival in heat.rivals))
    lines = [f"## {one.kernel}", ""]
    lines += [
        f"| size | best copy TB/s | {' | '.join(['fraction', 'spread', *rivals, 'standing'])} |",
        f"|---|{'---:|' * (3 + len(rivals))}---|",
    ]
    return "\n".join([*lines, *(row(heat, rivals) for heat in one.races), ""])


def row(heat: Heat, rivals: list[str]) -> str:
    """One size."""
    size = shown(tuple(heat.axes.values()))
    if not heat.kernels:
        return f"| {size} | | {' | '.join([''] * (2 + len(rivals)))} | {'; '.join(heat.refused.values())} |"
    own = heat.kernels[0]
    by_name = {rival.name: f"{heat.fraction(rival):.3f}" for rival in heat.rivals}
    cells = [
        size, f"{heat.rate(heat.copy) / 1e12:.2f}", f"**{heat.fraction(own):.3f}**", f"{own.spread:.1%}",
        *(by_name.get(name, "") for name in rivals), standing(own, heat.rivals),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def rungs(every: list[Timed]) -> str:
    """Kernels at one and the same size: what each step from naive to fastest brings."""
    lines = ["## What each step brings", "", "| kernel | size | us | fraction of copy |", "|---|---|---:|---:|"]
    for one in every:
        heat = one.races[0]
        size = shown(tuple(heat.axes.values()))
        own = [f"{each.median * 1e6:.1f} | {heat.fraction(each):.3f}" for each in heat.kernels]
        lines.append(f"| `{one.kernel}` | {size} | {own[0] if own else f'{next(iter(heat.refused.values()))} |'} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()

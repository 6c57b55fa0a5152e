"""One thing deleted in the PTX of right kernels of several languages: does kfuzz find it?

    python -m benchmarks.detection measure planted_modules [--keep FILE] [--only WORD...]

The kernels are right ones of the tests and of kernels/. Each runs on the cpu device as its users run it, under its
claim, at sizes that a campaign draws; kfuzz checks every access. A module is a text of PTX that its compiler makes for
some of these sizes. First the module runs as it is, in three seeds of values and orders of threads: nothing may be
reported. Then one change is planted in it, at a place that a seed chooses among those of its sort: a barrier, a fence
or a wait is deleted, the predicate of an access or the branch around it, or `<` becomes `<=`. Kernels with fences and
waits come first, and each module has the sort that has the fewest so far, so that sorts are balanced.

The change is found if an error of a kind that fits its sort (FITS) is reported in each of the three seeds. One that
cannot matter is recognised by a proof that has nothing of the checker (ptx_places): of the text alone, up to the next
barriers; or, for a predicate or a bound, by a module that traps where the change would make a difference, and does not
trap in any of the runs. Then another place is drawn, four at most. All else counts as missed.

Long, since the exhibits of each language and their runs are one measurement.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.detection.ptx_places import SORTS, Place, places, why_harmless, with_change, with_trap
from benchmarks.detection.swapped_modules import NvccDevice, Swaps, hooked
from benchmarks.measurement import Figures, Record
from kfuzz.campaign.schedule import attempt_of, is_check, is_large, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.plans.choose import seed_of, seeded_choices
from kfuzz.cases.plans.plan import Attempt, plan_at
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.common.errors import ClaimError
from kfuzz.devices import Device
from kfuzz.devices.python.device import PythonDevice

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
from tests.fuzz.devices.python.test_cute_launches import DOUBLE
from tests.fuzz.devices.python.test_tilelang_launches import RELU

DATA = Path(__file__).parents[2] / "tests" / "data"
SEEDS = (1, 2, 3)
SIZES, SIZES_SEED = 6, 31
FIRST_TRIAL, LAST_TRIAL = 6, 240
"""Trials whose sizes are taken: the very first have one row."""
DRAWS = 4
SECONDS = 10.0
WRONG = ("numeric", "special", "inaccurate", "nondeterministic", "unwritten", "uninitialised", "race")
OUTSIDE = ("out-of-bounds", "illegal-address", "misaligned", "input-changed", "use-after-free", "tensor-map", "trap")
STUCK = ("hang", "divergent-barrier", "mbarrier-misuse", "transaction-bytes", "inactive-lane")
IN_FLIGHT = ("copy-in-flight", "product-in-flight", "transfer-in-flight", "late-write")
FITS: Mapping[str, Sequence[str]] = {
    "barrier": (*WRONG, *STUCK, *IN_FLIGHT, "missing-proxy-fence"),
    "fence": ("race", "nondeterministic", "numeric", "missing-proxy-fence", "missing-tensor-fence", "mbarrier-misuse"),
    "wait": (*WRONG, *STUCK, *IN_FLIGHT),
    "predicate": (*WRONG, *OUTSIDE, *STUCK, *IN_FLIGHT),
    "bound": (*WRONG, *OUTSIDE, *STUCK, *IN_FLIGHT),
}
"""The kinds of errors that show a change of a sort."""
COUNTED = ("found", "warned", "missed")
"""The verdicts of changes that are not proved to be without effect."""


@dataclass(frozen=True)
class Exhibit:
    """A right kernel: the name of its file, its door, and what makes it another module."""

    door: str
    name: str
    edits: tuple[tuple[str, str], ...] = ()
    text: str = ""
    """Of a file that tests have in themselves."""
    modules: int = 2
    launch: int = 0
    """Which of the launches that a campaign draws, if its claim has several."""

    @property
    def title(self) -> str:
        return " ".join(
            (self.name, *(new for _, new in self.edits), *([f"launch {self.launch}"] if self.launch else []))
        )

    def source(self) -> str:
        found = next(DATA.joinpath("callables").glob(f"{self.door}/{self.name}.py")) if not self.text else None
        return edited(self.text or (found.read_text(encoding="utf-8") if found else ""), self.edits)


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str:
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def claimed(op: str, axes: str, text: str) -> str:
    return f'# /// kernel\n# op   = "{op}"\n# axes = {{ {axes} }}\n# ///\n{text}'


ONCE = "if not MADE:\n        MADE.append(cute.compile(launch, *given))\n    MADE[0](*given)"
NEGATED = (
    ("{fence}", "cute.arch.fence_view_async_shared()"), ("* 2", "* -1"),
    ("ROWS, COLS = 8, 32", "ROWS, COLS = 8, 32\nMADE = []"),
    ("cute.compile(launch, *given)(*given)", ONCE),
    ("y.sum(1)[: x.shape[0]] / 2 - (32 - x.shape[1])", "-y[: x.shape[0], : x.shape[1]]"),
)  # fmt: skip
"""The test's kernel computes a sum with ones that cancel; here it is a copy, exact for each number, compiled once."""
TMA_ROWS = claimed("copy", 'rows = "1..16", cols = "1..32"', edited(DOUBLE, NEGATED))
PIPELINE = claimed("relu", "rows = [3, 64, 65, 130], cols = [32, 36, 96]", RELU.format(argument="x"))
ASYNC_CU = (
    "gemm/wgmma_f16", "scaled_gemm/e4m3_promoted", "gemm/tiles_by_bulk_copy", "softmax/row_by_bulk_copy",
    "softmax/row_in_cluster", "softmax/row_in_shared", "layer_norm/row_in_shared", "layer_norm/row_in_cluster",
    "rms_norm/row_in_shared", "rms_norm/row_in_cluster", "right/tcgen05_gemm", "properties/last_block_adds_in_order",
    "properties/rows_from_a_queue", "properties/two_paths_one_order", "reduce/max_sum_last_block",
    "prefix_sum/look_back",
)  # fmt: skip
SEVERAL_LAUNCHES = (
    "softmax/row_in_cluster", "softmax/row_in_shared", "softmax/row_by_bulk_copy", "layer_norm/row_in_shared",
    "layer_norm/row_in_cluster", "rms_norm/row_in_shared", "rms_norm/row_in_cluster",
)  # fmt: skip
"""Those that are templates of their launch: each launch has another text."""
OTHER_OPS = (
    "logsumexp", "layer_norm_backward", "transpose", "sgemm", "softmax_backward", "top_k", "causal_attention",
    "cross_entropy", "group_norm", "segment_sum", "embedding", "max_pool3d", "gemv", "argmax",
    "swiglu_quantize", "sort",
)  # fmt: skip


def path_of(name: str) -> Path:
    """The CUDA file of a name."""
    return (DATA if name.startswith(("right/", "properties/")) else KERNELS) / f"{name}.cu"


def first_of(op: str) -> str:
    """The name of the first kernel of an op."""
    return f"{op}/{sorted((KERNELS / op).glob('*.cu'))[0].stem}"


EXHIBITS = (
    Exhibit("cute", "double_by_tensor_maps", text=TMA_ROWS),
    Exhibit("cute", "double_by_tensor_maps", (("64, 1, 1", "128, 1, 1"), ("COLS, 64", "COLS, 128")), TMA_ROWS, 1),
    Exhibit("tilelang", "relu_pipelined", text=PIPELINE, modules=3),
    Exhibit("triton", "gluon_row_sum", modules=3),
    Exhibit("triton", "row_sum_by_descriptor", modules=3),
    Exhibit("triton", "row_sum_by_own_descriptors", modules=3),
    Exhibit("triton", "row_sum_by_locks", modules=2),
    *(Exhibit("nvcc", one) for one in ASYNC_CU),
    *(Exhibit("nvcc", one, launch=launch) for one in SEVERAL_LAUNCHES for launch in (1, 2)),
    Exhibit("triton", "softmax"),
    Exhibit("triton", "matmul", modules=3),
    Exhibit("triton", "row_sum"),
    Exhibit("triton", "row_sum_of_blocks"),
    Exhibit("triton", "row_sum_by_atomics", modules=1),
    Exhibit("triton", "prefix_sum"),
    Exhibit("triton", "rms_norm"),
    Exhibit("triton", "attention", modules=3),
    Exhibit("cute", "softmax", modules=1),
    Exhibit("cute", "softmax", (("THREADS = 128", "THREADS = 64"),), modules=1),
    Exhibit("cute", "row_sum_of_warps", modules=1),
    Exhibit("cute", "row_sum_of_warps", (("RowSum(64)", "RowSum(96)"),), modules=1),
    Exhibit("tilelang", "softmax", modules=3),
    Exhibit("tilelang", "row_sum_of_blocks", modules=2),
    Exhibit("numba", "softmax", modules=1),
    Exhibit("numba", "row_sum_of_warps", modules=1),
    Exhibit("warp", "softmax", modules=1),
    Exhibit("warp", "row_sum_of_tiles", modules=1),
    Exhibit("warp", "row_sum_of_tiles", (("THREADS = 64", "THREADS = 128"),), modules=1),
    *(Exhibit("nvcc", first_of(one), modules=1) for one in OTHER_OPS),
)


@dataclass
class Bench:
    """An exhibit on its device: what runs it, with the swaps."""

    exhibit: Exhibit
    kernel: Kernel
    device: Device
    swaps: Swaps
    attempts: list[Attempt] = field(default_factory=list)

    def trial(self, seed: int, number: int) -> Trial:
        """The trial of a seed at sizes of a number: values and orders of threads are the seed's."""
        given = self.attempts[number]
        choose = seeded_choices(seed_of(seed, self.kernel.name, number))
        attempt = plan_at(self.kernel, self.kernel.axes_of(given.case.arrays), given.tune, choose)
        probe = replace(probe_of(self.kernel, seed, number, 3, SECONDS), check=True)
        return run_trial(self.kernel, attempt.case, attempt.tune, self.device, probe)


def sizes_of(kernel: Kernel, launch: int) -> list[Attempt]:
    """Attempts with one launch, as a campaign draws them where it checks.

    Those with the largest size of each axis, and others from few elements to many.
    """
    by_launch: dict[tuple[object, ...], dict[tuple[object, ...], Attempt]] = {}
    for index in range(FIRST_TRIAL, LAST_TRIAL):
        if is_check(index) and not is_large(index):
            one = attempt_of(kernel, SIZES_SEED, index)
            made = by_launch.setdefault(tuple(one.tune.items()), {})
            made.setdefault(tuple(kernel.axes_of(one.case.arrays).items()), one)
    often = sorted(by_launch.values(), key=len, reverse=True)  # as drawn among those of equally many sizes
    every = often[min(launch, len(often) - 1)]
    chosen = {max(every, key=lambda sizes: sizes[axis][1]): None for axis in range(len(next(iter(every))))}
    rest = sorted((one for one in every if one not in chosen), key=lambda one: every[one].case.elements)
    left = max(SIZES - len(chosen), 1)
    chosen |= {rest[place * len(rest) // left]: None for place in range(left) if rest}
    return [every[one] for one in chosen]


@dataclass
class Benches:
    """Exhibits on devices, one for each door, since a process of Python's libraries starts slowly."""

    folder: Path
    stack: ExitStack
    devices: dict[str, Device] = field(default_factory=dict)

    def bench(self, exhibit: Exhibit) -> Bench:
        """An exhibit, ready to run."""
        swaps = Swaps(self.folder / "texts")
        swaps.say({})
        if exhibit.door not in self.devices:
            opened = NvccDevice(swaps) if exhibit.door == "nvcc" else PythonDevice()
            self.devices[exhibit.door] = self.stack.enter_context(closing(opened))
        path = path_of(exhibit.name) if exhibit.door == "nvcc" else self.folder / f"{exhibit.name}.py"
        if exhibit.door != "nvcc":
            path.write_text(hooked(exhibit.source(), swaps.folder), encoding="utf-8")
        kernel = load(path)
        return Bench(exhibit, kernel, self.devices[exhibit.door], swaps, sizes_of(kernel, exhibit.launch))


def unedited(bench: Bench) -> tuple[Record, dict[str, str], dict[str, list[int]]]:
    """Whatever the unedited kernel has reported, its modules, and the numbers of the sizes that run each."""
    reports: Counter[str] = Counter()
    texts: dict[str, str] = {}
    runs: dict[str, list[int]] = {}
    judged = trials = 0
    for seed in SEEDS:
        for number in range(len(bench.attempts)):
            if seed == SEEDS[0]:
                bench.swaps.say({})
            tried = bench.trial(seed, number)
            trials, judged = trials + 1, judged + bool(tried.elements)
            reports.update(f"{one.severity}: {one.bucket}" for one in tried.defects)
            if not tried.elements and not tried.defects:
                print(f"{bench.exhibit.title}: {tried.axes}: {tried.reasons} {tried.notes}"[:300], file=sys.stderr)
            if seed == SEEDS[0]:
                for name, text in bench.swaps.record().items():
                    texts[name] = text
                    runs.setdefault(name, []).append(number)
    row = {
        "door": bench.exhibit.door, "exhibit": bench.exhibit.title, "modules": len(texts), "trials": trials,
        "judged": judged, "reports": dict(reports),
    }  # fmt: skip
    return row, texts, runs


def kinds_in(bench: Bench, seed: int, numbers: Sequence[int], fits: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """The errors and warnings of a seed's trials, up to the first that has an error of a kind that fits."""
    errors: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    for number in numbers:
        tried = bench.trial(seed, number)
        errors.update({one.kind for one in tried.errors})
        warnings.update({one.kind for one in tried.defects if one not in tried.errors})
        if any(one in fits for one in errors):
            break
    return errors, warnings


def plant(bench: Bench, name: str, text: str, place: Place, numbers: Sequence[int]) -> Record:
    """What comes of a change, in each seed; and of the proofs, if it is not found."""
    proof = why_harmless(text, place)
    bench.swaps.say({name: with_change(text, place)})
    fits = FITS[place.sort]
    began = time.monotonic()
    seen = [kinds_in(bench, seed, numbers, fits) for seed in SEEDS]
    found = sum(any(kind in fits for kind in errors) for errors, _ in seen)
    is_warned = all(any(kind in fits for kind in warnings) for _, warnings in seen)
    verdict = "found" if found == len(SEEDS) else "warned" if is_warned else "missed"
    if proof:
        verdict = "harmless"
    elif verdict == "missed" and place.trap:
        bench.swaps.say({name: with_trap(text, place)})
        trapped = [kinds_in(bench, seed, numbers, ("trap",))[0] for seed in SEEDS]
        if not any(trapped):
            verdict, proof = "same", "it makes no difference at these sizes"
        elif place.same:
            bench.swaps.say({name: with_trap(text, place, is_same=True)})
            stored = [kinds_in(bench, seed, numbers, ("trap",))[0] for seed in SEEDS]
            if not any({*one} - {"race"} for one in stored):
                verdict, proof = "harmless", "each thread that it keeps out would have stored the value that is there"
    errors, warnings = (sum((one[at] for one in seen), Counter[str]()) for at in (0, 1))
    return {
        "sort": place.sort, "line": place.line + 1, "words": place.words[:120], "verdict": verdict, "seeds": found,
        "errors": sorted(errors), "warnings": sorted(warnings), "proof": proof,
        "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


def plants(
    bench: Bench, texts: Mapping[str, str], runs: Mapping[str, list[int]], counts: Counter[str]
) -> Iterator[Record]:
    """A change in each of some modules, and others in their place while they make no difference."""
    chosen = sorted(texts, key=lambda name: -len(runs[name]))[: bench.exhibit.modules]
    for at, name in enumerate(chosen):
        every = places(texts[name])
        kinds = [sort for sort in SORTS if any(one.sort == sort for one in every)]
        if not kinds:
            continue
        sort = min(kinds, key=lambda one: (counts[one], SORTS.index(one)))
        mine = [one for one in every if one.sort == sort]
        random.Random(f"{bench.exhibit.door} {bench.exhibit.title} {at}").shuffle(mine)  # noqa: S311  an order
        for draw, place in enumerate(mine[:DRAWS]):
            made = plant(bench, name, texts[name], place, runs[name])
            yield {
                "door": bench.exhibit.door, "exhibit": bench.exhibit.title, "module": at, "draw": draw,
                "places": len(mine), "sizes": len(runs[name]), **made,
            }  # fmt: skip
            if made["verdict"] in COUNTED:
                counts[sort] += 1
                break


def of_exhibit(exhibit: Exhibit, benches: Benches, counts: Counter[str]) -> Record:
    """What an exhibit shows: unedited, and with changes if nothing is reported of it."""
    began = time.monotonic()
    try:
        bench = benches.bench(exhibit)
        row, texts, runs = unedited(bench)
        made = [] if row["reports"] else list(plants(bench, texts, runs, counts))
    except ClaimError as error:
        words = re.sub(r"/[^ ]*/", "", str(error))[:200]
        return {"door": exhibit.door, "exhibit": exhibit.title, "refused": words, "plants": []}
    return {**row, "seconds": round(time.monotonic() - began, 1), "plants": made}


def measure(options: Sequence[str]) -> Figures:
    """The rows of all exhibits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a file: each row is appended as it comes, and those there count")
    parser.add_argument("--only", nargs="*", default=[], help="exhibits whose door or title has one of these words")
    asked = parser.parse_args(options)
    kept = asked.keep.read_text(encoding="utf-8").splitlines() if asked.keep and asked.keep.exists() else []
    rows = [json.loads(line) for line in kept]
    known = {(one["door"], one["exhibit"]) for one in rows}
    counts = Counter(one["sort"] for row in rows for one in row["plants"] if one["verdict"] in COUNTED)
    left = [
        one for one in EXHIBITS
        if (one.door, one.title) not in known
        and (not asked.only or any(word in f"{one.door} {one.title}" for word in asked.only))
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="kfuzz-planted-") as folder, ExitStack() as stack:
        benches = Benches(Path(folder), stack)
        for exhibit in left:
            rows.append(of_exhibit(exhibit, benches, counts))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            if asked.keep:
                with asked.keep.open("a", encoding="utf-8") as file:
                    print(json.dumps(rows[-1]), file=file)
    changes = [one for row in rows for one in row["plants"]]
    kernels = [{name: value for name, value in row.items() if name != "plants"} for row in rows]
    return Figures({"seeds": len(SEEDS), "sizes": SIZES}, {"kernels": kernels, "plants": changes})


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:]).tables, indent=1))

"""The list of solutions that benchmarks.detection.solutions judges, drawn by lot from public repositories.

    python -m benchmarks.detection.solutions_drawn MIRRORS FOLDER [--seed 20261130] [--most 250] [--train 20]
        [--without FILE...]

MIRRORS has a bare copy of each repository of SOURCES, OWNER+NAME/repo. Of each one at most so many answers are taken,
in the order of a shuffle by the seed, and all of them are shuffled by the same seed: the first thousand are a draw,
too. No repository is among them of which solutions were judged here before, and no answer of CUDA-L1 to a problem for
which that was so. FOLDER gets the files and list.json; with `--train 20`, the 20 of each repository that come next.
`--without` leaves out the answers of other lists, and those whose verdicts a page's data has: so a draw is fresh.
"""

import argparse
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.detection.solutions import digest_of, read_list
from benchmarks.measurement import read

KERNELBENCH = "ScalingIntelligence/KernelBench"
"""Problems of answers that come without."""
BEFORE = (
    "100_HingeLoss", "19_ReLU", "23_Softmax",
    "24_Conv3d_Min_Softmax", "26_GELU_", "31_Conv2d_Min_Add_Multiply",
    "36_RMSNorm_", "3_Batched_matrix_multiplication", "40_LayerNorm",
    "42_Max_Pooling_2D", "47_Sum_reduction_over_a_dimension", "4_Matrix_vector_multiplication_",
    "51_Argmax_over_a_dimension", "53_Min_reduction_over_a_dimension", "57_Conv2d_ReLU_HardSwish",
    "71_Conv2d_Divide_LeakyReLU", "7_Conv3d_ReLU_LeakyReLU_GELU_Sigmoid_BiasAdd", "82_Conv2d_Tanh_Scaling_BiasAdd_Max",
    "89_cumsum", "94_MSELoss", "95_CrossEntropyLoss",
    "98_KLDivLoss",
)  # fmt: skip
"""Problems of which a copy of CUDA-L1 was judged before."""
HAS_CUDA = re.compile(r"load_inline|cpp_extension|__global__")
HAS_TRITON = re.compile(r"^\s*(?:import triton|from triton)\b", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """An answer in a repository: where it is from, and what reads its text and that of its problem."""

    repository: str
    commit: str
    path: str
    name: str
    read: Callable[[], tuple[str, ...]]


Versions = Mapping[str, tuple[str, str]]
"""The newest version of each file that a repository ever had: a commit and the blob."""


class Mirror:
    """A bare copy of a repository."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.git = folder / name.replace("/", "+") / "repo"
        self.versions: Versions = dict(self._versions())

    def _versions(self) -> Iterator[tuple[str, tuple[str, str]]]:
        commit, seen = "", set[str]()
        words = ("log", "--all", "--raw", "--no-abbrev", "--no-renames", "--format=%h", "-m", "--abbrev=8")
        for line in self.run(*words).splitlines():
            if not line.startswith(":"):
                commit = line or commit
                continue
            facts, _, path = line.partition("\t")
            blob, how = facts.split()[3:5]
            if how != "D" and path not in seen:
                seen.add(path)
                yield path, (commit, blob)

    def run(self, *words: str) -> str:
        asked = ["git", "-c", "core.quotePath=off", *words]
        return subprocess.run(asked, cwd=self.git, capture_output=True, check=False).stdout.decode("utf-8", "replace")

    def text(self, path: str) -> str:
        return self.run("cat-file", "blob", self.versions[path][1])


def texts_of(*files: tuple[Mirror, str]) -> tuple[str, ...]:
    return tuple(mirror.text(path) for mirror, path in files)


Find = Callable[[Mirror, Mirror], Iterator[Found]]


def by_number(pattern: str, own_problems: str, mirror: Mirror, kernelbench: Mirror) -> Iterator[Found]:
    """Files whose path has the level and the number of their problem."""
    problems = mirror if own_problems else kernelbench
    folder = own_problems or "KernelBench"
    known = {
        (found[1], found[2]): path
        for path in problems.versions
        if (found := re.fullmatch(rf"{folder}/level(\d)/(\d+)_[^/]*\.py", path))
    }
    for path, (commit, _) in mirror.versions.items():
        if (found := re.fullmatch(pattern, path)) and (place := known.get((found["level"], found["number"]))):
            texts = partial(texts_of, (mirror, path), (problems, place))
            yield Found(mirror.name, commit, path, Path(place).stem, texts)


def by_name(pattern: str, mirror: Mirror, _: Mirror) -> Iterator[Found]:
    """Files in a folder that has the name of their problem."""
    known: dict[str, list[str]] = {}
    for path in mirror.versions:
        if re.fullmatch(r"KernelBench/level\d/\d+_[^/]*\.py", path):
            known.setdefault(Path(path).stem, []).append(path)
    for path, (commit, _) in mirror.versions.items():
        if (found := re.fullmatch(pattern, path)) and len(places := known.get(found["name"], [])) == 1:
            texts = partial(texts_of, (mirror, path), (mirror, places[0]))
            yield Found(mirror.name, commit, path, found["name"], texts)


def in_lines(mirror: Mirror, kernelbench: Mirror) -> Iterator[Found]:
    """The lines of CUDA-L1: an answer and its problem for each of five GPUs."""
    names = {
        (found[1], found[2]): Path(path).stem
        for path in kernelbench.versions
        if (found := re.fullmatch(r"KernelBench/level(\d)/(\d+)_[^/]*\.py", path))
    }
    for path, (commit, _) in mirror.versions.items():
        if not re.fullmatch(r"optimized_cuda_code/(?:3090|a100|h100|h20|l40)\.json", path):
            continue
        for one in map(json.loads, mirror.text(path).splitlines()):
            level, number = str(one["level_id"]), str(one["task_id"])
            name, texts = names[level, number], (one["custom_code"] or "", one["ref_code"])
            if name not in BEFORE:
                yield Found(mirror.name, commit, f"{path}: {level}/{number}", name, partial(tuple, texts))


SOURCES: Mapping[str, Find] = {
    "Alisehen/LLMKernel": partial(by_name, r"results/level\d/(?P<name>[^/]+)/code/kernel_\w+\.py"),
    "alexghergh/KernelBench": partial(
        by_number, r"triton_runs/\w+/kernels/level(?P<level>\d)_problem(?P<number>\d+)_triton\.py", "KernelBench"
    ),
    "deepreinforce-ai/CUDA-L1": in_lines,
    "j1mk1m/Kernel-Coder": partial(
        by_number, r"runs/[^/]+/level_(?P<level>\d)_problem_(?P<number>\d+)_\w+_kernel\.py", ""
    ),
    "kaimu11111/pipeline": partial(by_name, r"run/(?:.*/)?(?P<name>[^/]+)/code/kernel_\w+\.py"),
    "pango0/KernelBench-Agentic": partial(
        by_number,
        r"(?:guided|iterative|zeroshot)/.*level_(?P<level>\d)_problem_(?P<number>\d+)_sample_0_kernel\.py",
        "KernelBench/KernelBench",
    ),
    "yoenoo/eh_kernelbench": partial(
        by_number, r"results/level_(?P<level>\d)_problem_(?P<number>\d+)_sample_\d+_kernel\.py", ""
    ),
}


def main() -> None:
    """Draw, and write the files of the draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--most", type=int, default=250, help="so many of one repository")
    parser.add_argument("--train", type=int, default=0, help="so many of one that come after these, instead")
    parser.add_argument("--without", type=Path, nargs="*", default=(), help="lists, or the data of a page")
    options = parser.parse_args()
    options.without = {digest for path in options.without for digest in digests_in(path)}
    (options.folder / "files").mkdir(parents=True, exist_ok=True)
    kernelbench = Mirror(options.mirrors, KERNELBENCH)
    drawn = list[Drawn]()
    for name, find in SOURCES.items():
        chosen = draw(find(Mirror(options.mirrors, name), kernelbench), options)
        print(name, len(chosen))
        drawn += chosen
    random.Random(options.seed).shuffle(drawn)  # noqa: S311  a draw that anyone can repeat
    write(drawn, options.folder)


Drawn = tuple[Found, str, str]
"""An answer, its text and that of its problem."""


def draw(every: Iterator[Found], options: argparse.Namespace) -> list[Drawn]:
    """So many answers of a repository, no two with the same texts."""
    shuffled = sorted(every, key=lambda one: one.path)
    random.Random(options.seed).shuffle(shuffled)  # noqa: S311  a draw that anyone can repeat
    first, most = (options.most, options.most + options.train) if options.train else (0, options.most)
    different = dict[tuple[str, ...], Found]()
    for one in shuffled:
        if len(different) == most:
            break
        if "class ModelNew" in (texts := one.read())[0] and digest_of(*map(str.encode, texts)) not in options.without:
            different.setdefault(texts, one)
    return [(one, *texts) for texts, one in different.items()][first:]


def digests_in(path: Path) -> set[str]:
    """The digests of the answers of a list, or of those that a page's data has verdicts on."""
    if isinstance(json.loads(path.read_text(encoding="utf-8")), dict):
        return {one["key"].rpartition("-")[2] for one in read(path).table("solutions")}
    return {one.digest for one in read_list(path)}


def write(drawn: list[Drawn], folder: Path) -> None:
    """The files, each text once, and the list of them."""
    places, listed = dict[str, str](), []
    for one, answer, problem in drawn:
        for text in (answer, problem):
            if text not in places:
                is_cuda = text == answer and one.path.endswith(".cu")
                places[text] = f"files/{len(places):04}{'.cu' if is_cuda else '.py'}"
                (folder / places[text]).write_text(text, encoding="utf-8")
        kind = "cuda" if HAS_CUDA.search(answer) else "triton" if HAS_TRITON.search(answer) else "torch"
        listed.append({"solution": places[answer], "problem": places[problem], "name": one.name,
                       "repository": one.repository, "commit": one.commit, "path": one.path, "kind": kind})  # fmt: skip
    (folder / "list.json").write_text(json.dumps(listed, indent=0), encoding="utf-8")


if __name__ == "__main__":
    main()

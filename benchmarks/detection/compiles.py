"""Count the CUDA files of public repositories that compile for the cpu device.

    python -m benchmarks.detection measure compiles FOLDER [--before FOLDER] [--jobs 2] [--keep FILE] [--only WORD]

FOLDER holds checkouts as for ptx_coverage.py, and the headers of apache-tvm-ffi as apache+tvm-ffi/include. A file is
translated as `kfuzz nvcc -c` does it, with the options of its project; then g++ checks all of it and instantiates its
templates, and writes no code. A file that includes PyTorch has kfuzz's version of it, as `kfuzz fuzz` has. Each file
has so many seconds and gigabytes. --before is a folder with an older kfuzz, which compiles the same files. The result
has the number of files of each repository with the same outcomes and first reason; --keep keeps them by name. The order
is mixed, so that a run of --for SECONDS has a fair sample, and the next run with the same --keep goes on.
"""

import argparse
import hashlib
import itertools
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measurement import Figures, Record
from kfuzz.common.text.headers import sources
from kfuzz.devices import ClaimError, UnsupportedError, cache
from kfuzz.devices.cpu import compiler as its_compiler
from kfuzz.devices.cpu.options import Flags
from kfuzz.devices.cpu.programs.command_line import parse
from kfuzz.devices.cpu.toolchain import INCLUDES, flags_before_front, option_words, precompile_front, words_after_front
from kfuzz.devices.cpu.translate import translate
from kfuzz.devices.cpu.unit import KERNEL_NAME, Unit, header_name
from kfuzz.devices.host_compiler import environment, find_compiler

OLDER = not Path(its_compiler.__file__).with_name("left_out_keywords.py").is_file()
"""The version before, which leaves nothing out of what C++ says."""
if not OLDER:
    from kfuzz.devices.cpu.left_out_keywords import compile_leniently

EVERY_ALIKE = 8
SECONDS, GIGABYTES = 240, 8
"""Limits of one file: of its translation and of the compiler together, and of either's memory."""
CHECKS_ALONE = ("-fsyntax-only", "-w")
CUDA = "#define __NVCC__ 1\n#define __CUDACC_VER_BUILD__ 0\n"
OUTCOMES = ("compiles", "refused", "error", "time", "memory")
CUTLASS = ("NVIDIA+cutlass/include", "NVIDIA+cutlass/tools/util/include")


@dataclass(frozen=True)
class Project:
    """A repository, or a folder of one: where its files are, and with which options its own build compiles them."""

    name: str
    commit: str
    below: str = ""
    includes: tuple[str, ...] = ()
    """Folders of the repository."""
    others: tuple[str, ...] = ()
    """Folders of other checkouts."""
    words: tuple[str, ...] = ("-arch=sm_90a", "-std=c++17")
    newer: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Files whose path has this word are compiled with these words instead; {root} is the checkout."""

    alike: str = ""
    """Files whose path has this word instantiate the same templates: only every `EVERY_ALIKE`th of them counts."""

    @property
    def folder(self) -> str:
        return self.name.replace("/", "+")

    def words_for(self, path: str) -> tuple[str, ...]:
        return next((words for word, words in self.newer if re.search(word, path)), self.words)


SM100 = ("-arch=sm_100a", "-std=c++20")
TRT = "csrc/nv_internal/tensorrt_llm"
FLASHINFER = (
    *(f"-DFLASHINFER_ENABLE_{one}" for one in ("F16", "BF16", "FP8_E4M3", "FP8_E5M2")),
    *("-DENABLE_BF16", "-DENABLE_FP8", "-DNDEBUG"),
)
KITTENS_100 = (*SM100, "-DKITTENS_BLACKWELL", "-DNDEBUG")
PROJECTS = (
    Project("Dao-AILab/flash-attention", "0251105", "hopper", ("hopper",), CUTLASS,
            newer=((r"_sm80\.cu", ("-arch=sm_80", "-std=c++17")),), alike="/instantiations/"),
    Project("HazyResearch/ThunderKittens", "0b55588", "",
            ("include", "prototype", "tests", "tests/testing_commons"), (),
            ("-arch=sm_90a", "-std=c++20", "-DKITTENS_HOPPER", "-DNDEBUG"), ((r"b[23]00|blackwell", KITTENS_100),)),
    Project("deepseek-ai/DeepGEMM", "54e2261", "", ("deep_gemm/include",), CUTLASS, SM100),
    Project("deepseek-ai/FlashMLA", "9241ae3", "", ("csrc", "csrc/kerutils/include", "csrc/sm90"), CUTLASS,
            ("-arch=sm_90a", "-std=c++20"), (("sm100", SM100),)),
    Project("flashinfer-ai/flashinfer", "fb28d72", "csrc",
            ("include", "csrc", "csrc/fmha_v2", "csrc/nv_internal", "csrc/nv_internal/include",
             f"{TRT}/cutlass_extensions/include", f"{TRT}/kernels/cutlass_kernels/include",
             f"{TRT}/kernels/cutlass_kernels"),
            (*CUTLASS, "apache+tvm-ffi/include"), ("-arch=sm_90a", "-std=c++20", *FLASHINFER),
            ((r"sm1[02]\d|fp4|blackwell", (*SM100, *FLASHINFER, "-DENABLE_FP4")),)),
    Project("NVIDIA/TransformerEngine", "d0067d0", "transformer_engine",
            ("transformer_engine", "transformer_engine/common", "transformer_engine/common/include"), CUTLASS,
            ("-arch=sm_90a", "-std=c++17"), (("hadamard|nvfp4|mxfp8", ("-arch=sm_100a", "-std=c++17")),)),
    Project("deepseek-ai/DeepEP", "dd758ca", "", ("deep_ep/include", "csrc"), (), ("-arch=sm_90a", "-std=c++20")),
    Project("NVIDIA/cuda-samples", "c94ff36", "", ("Common",)),
    Project("xlite-dev/LeetCUDA", "cb6a049", "", ("kernels",), CUTLASS, newer=(
        ("flash-attn", ("-arch=sm_90a", "-std=c++17", "-I{root}/kernels/flash-attn/utils")),
        ("hgemm", ("-arch=sm_90a", "-std=c++17", "-I{root}/kernels/hgemm/utils")),
    )),
)  # fmt: skip
FIRST = "4cf8eee6"
"""The last commit of this project before inline PTX was translated."""


def words_of(folder: Path, project: Project, file: Path) -> list[str]:
    """The command line of nvcc for a file."""
    root = folder / project.folder
    named = (*(root / one for one in project.includes), *(folder / one for one in project.others))
    own = (one.format(root=root) for one in project.words_for(str(file.relative_to(root))))
    return ["-c", *own, *(f"-I{one}" for one in named), str(file)]


def check_file(words: Sequence[str]) -> tuple[str, str]:
    """What comes of a file, and the first reason if it does not compile."""
    command = parse(words)
    source = command.sources[0].path
    try:
        files = sources(source, source.read_text(encoding="utf-8-sig", errors="replace"), command.flags)
        done = translate(
            files, [KERNEL_NAME, *map(header_name, range(1, len(files)))], None, with_host=True, refuses_libraries=False
        )
    except UnsupportedError as error:
        return "refused", str(error).splitlines()[0]
    except ClaimError as error:
        return "error", str(error).splitlines()[0]
    except MemoryError:
        return "memory", ""
    unit = Unit(files, done.texts, "", done.dynamic_shared, done.constants, done.kernels, CUDA)
    compiler, chosen = find_compiler(), Flags(tuple(command.flags), flush_denormals=False)
    front = 2 if unit.uses_torch else 1
    header = precompile_front(compiler, "check", chosen, front)
    with cache.scratch() as place:

        def compiled(what: Unit) -> subprocess.CompletedProcess[str]:
            line = [
                *(compiler, *option_words(compiler, "check", flags_before_front(chosen), with_host=True)),
                *(*CHECKS_ALONE, "-include", str(header), *words_after_front(chosen, place), *INCLUDES),
                *("-iquote", str(place), "-iquote", str(source.parent), "-x", "c++", str(what.write(place))),
            ]
            if OLDER:
                return subprocess.run(line, capture_output=True, text=True, check=False, env=environment(place))
            return its_compiler.run_permissively(line, environment(place))

        ran = compiled(unit) if OLDER else compile_leniently(compiled, unit)
    if not ran.returncode:
        return "compiles", ""
    if re.search("out of memory|memory exhausted|bad_alloc|cc1plus: internal|Killed", ran.stderr):
        return "memory", ""
    errors = re.findall(r"error: (.*)", ran.stderr)
    first = next((one for one in errors if "changes meaning of" not in one), None)  # this alone is permitted
    return "error", first or (ran.stderr.splitlines() or ["no words"])[-1]


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))


def ask(folder: Path, project: Project, file: Path, old: Path | None) -> Record:
    """One file, checked by a process of its own."""
    path = str(file.relative_to(folder / project.folder))
    env = dict(os.environ)
    if old:
        env["PYTHONPATH"] = f"{old}{os.pathsep}{env.get('PYTHONPATH', '')}"
    mine = [sys.executable, "-m", "benchmarks.detection.compiles", *words_of(folder, project, file)]
    command = ["timeout", "-s", "KILL", str(SECONDS), *mine]  # which ends the compiler, too
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=env, preexec_fn=limit_memory)
    if lines := ran.stdout.splitlines():
        outcome, why = json.loads(lines[-1])
    elif ran.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):
        outcome, why = "time", ""
    else:
        why = ran.stderr.strip().rpartition("\n")[2]
        outcome = "memory" if "MemoryError" in why else "error"
    return {"repository": project.name, "file": path, "outcome": outcome, "why": shorten(why)}


def shorten(why: str) -> str:
    """A reason without places, and with the names that a repository's files have in common."""
    why = re.sub(r"^\S+?:(?:\d+:)* ?", "", why) if re.match(r"^/\S+:", why) else why
    return re.sub(r"\s+", " ", why)[:160]


def files_of(folder: Path, project: Project) -> list[Path]:
    files = sorted((folder / project.folder / project.below).rglob("*.cu"))
    alike = [one for one in files if project.alike and project.alike in str(one)]
    return sorted({*files} - {*alike} | {*alike[::EVERY_ALIKE]})


def chosen_files(folder: Path, every: int, only: str) -> Iterator[tuple[Project, Path]]:
    """Every so many-th file of each repository."""
    for project in PROJECTS:
        for file in itertools.islice(files_of(folder, project), 0, None, every):
            if only in str(file):
                yield project, file


def measure(arguments: Sequence[str]) -> Figures:
    """Check each file, and count by repository and by reason."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    words.add_argument("--before", type=Path, help="a folder with an older kfuzz")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--every", type=int, default=1, help="only every so many-th file of a repository")
    words.add_argument("--only", default="", help="only files with this in their path")
    words.add_argument("--keep", type=Path, help="keep each outcome in this file, and use those in it")
    words.add_argument("--for", dest="limit", type=float, default=math.inf, help="start no file after so many seconds")
    asked = words.parse_args(arguments)
    folder, last = asked.folder.resolve(), time.monotonic() + asked.limit
    kept = outcomes_in(asked.keep) if asked.keep and asked.keep.is_file() else {}
    files = list(chosen_files(folder, asked.every, asked.only))
    files.sort(key=lambda one: hashlib.sha256(str(one[1].relative_to(folder)).encode()).digest())
    ways = {"now": None, **({"before": asked.before.resolve()} if asked.before else {})}

    def outcome(task: tuple[str, Project, Path]) -> tuple[str, Record] | None:
        way, project, file = task
        place = (way, project.name, str(file.relative_to(folder / project.folder)))
        if place not in kept and time.monotonic() > last:
            return None
        return way, kept.get(place) or keep(asked.keep, way, ask(folder, project, file, ways[way]))

    with ThreadPoolExecutor(asked.jobs) as pool:
        every = [*pool.map(outcome, [(way, *one) for one in files for way in ways])]
    made = {(way, one["repository"], one["file"]): one for way, one in filter(None, every)}
    old = {key[1:]: one["outcome"] for key, one in made.items() if key[0] == "before"}
    new = [{**one, "before": old.get(key[1:])} for key, one in sorted(made.items()) if key[0] == "now"]
    return Figures(
        {"first": FIRST, "seconds": SECONDS, "gigabytes": GIGABYTES, "chosen": len(files), "every_alike": EVERY_ALIKE},
        {"files": group_alike(new)},
    )


def group_alike(files: Iterable[Record]) -> list[Record]:
    """The number of files with the same outcomes and the same reason."""
    columns = ("repository", "outcome", "why", "before")
    counts = Counter(tuple(one[name] for name in columns) for one in files)
    return [{**dict(zip(columns, key, strict=True)), "files": number} for key, number in counts.items()]


def files_by(key: str, rows: Iterable[Record]) -> Counter[Any]:
    """The number of files with each value of a column."""
    counts = Counter[Any]()
    for one in rows:
        counts[one[key]] += one["files"]
    return counts


def outcomes_in(file: Path) -> dict[tuple[str, str, str], Record]:
    """What --keep has kept: the way, the repository and the file, and the record."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {(way, one["repository"], one["file"]): one for way, one in rows}


def keep(file: Path | None, way: str, one: Record) -> Record:
    """Print an outcome, and add it to the file."""
    print(way, *one.values(), sep="\t", file=sys.stderr, flush=True)
    if file:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps([way, one]) + "\n")
    return one


def count(alike_files: Sequence[Record]) -> list[Record]:
    """The outcomes of each repository."""
    rows = []
    for project in PROJECTS:
        mine = [one for one in alike_files if one["repository"] == project.name]
        outcomes, before = files_by("outcome", mine), files_by("before", mine)
        rows.append({
            "name": project.name, "commit": project.commit, "files": outcomes.total(),
            **{name: outcomes[name] for name in OUTCOMES},
            "older": outcomes.total() - before[None], "before": before["compiles"],
        })  # fmt: skip
    return rows


if __name__ == "__main__":
    print(json.dumps(check_file(sys.argv[1:])))

"""Run public CUDA programs as they are.

    python -m benchmarks.detection.public run FOLDER [--only WORDS]    run programs, and keep their outcomes
    python -m benchmarks.detection measure public                      the figures of all outcomes that are kept

FOLDER holds one checkout for each repository in `REPOSITORIES`, named OWNER+NAME, at the commit in the list. Each
program goes through `kfuzz check` with a limit on the processor time of its run. The outcome of each program is kept in
public_programs/runs.json; `--only` replaces the outcomes of the programs whose name contains the words. Keeps names,
figures and kfuzz's own words, and no text of the programs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measurement import Figures, Record

DATA = Path(__file__).parent / "public_programs" / "runs.json"
TRUE = Path(__file__).parent / "public_programs" / "true.json"
"""The accusations that were read and are true: repository, program, the findings with their lines, and the reason."""
OUTCOMES = ("ran", "nothing launched", "finding", "own error", "time out", "cannot run")
LIMIT = 20
"""Processor seconds of a run."""
WALL = 420.0
"""Seconds of wall time for the compiler, on a machine with other work; the run has five times its limit on top."""
NOT_SAMPLES = re.compile(
    r"cuda_driver|nvrtc|cufft|cusparse|cusolver|npp|nvjpeg|OPENGL|OpenGL|EGL|Vulkan|MPI|NVSCI|NVJIT|d3d1|socket"
)
"""Libraries of the samples that are left out: graphics, the driver API, and libraries that kfuzz does not have."""


@dataclass(frozen=True)
class Repository:
    """A repository at one commit, and the list that its programs belong to."""

    name: str
    commit: str
    belongs_to: str


@dataclass(frozen=True)
class Program:
    """A program: the words for `kfuzz check`, and the folder in which it is built and run."""

    name: str
    repository: Repository
    folder: Path
    words: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The result of a program: `ran`, `finding`, `time out`, `own error`, `nothing launched` or `cannot run`."""

    repository: str
    name: str
    outcome: str
    reason: str = ""
    findings: tuple[str, ...] = ()
    launches: int = 0
    seconds: float = 0.0


LLM_C = Repository("karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a", "llm.c dev/cuda")
SAMPLES = Repository("NVIDIA/cuda-samples", "c94ff366aed18c797b8a85dfaac7817b0228b420", "cuda-samples")
HOW_TO_OPTIM = Repository(
    "BBuf/how-to-optim-algorithm-in-cuda", "10a3a8d243037e2544686eb673fda86fba23143f", "teaching programs"
)
HOW_TO_OPTIMIZE = Repository(
    "Liu-xiandong/How_to_optimize_in_GPU", "5d2def3e082c4e1364c3ade54451b7b9d1d6f044", "teaching programs"
)
CUDACODES = Repository("Maharshi-Pandya/cudacodes", "9a459b1007c68430c801389f4eaf31cf31b906a6", "teaching programs")
SGEMM_CUDA = Repository("siboehm/SGEMM_CUDA", "60cba6f9b20a198116c76f18de8047f44df8c8b8", "teaching programs")
SGEMM_PRACTICE = Repository(
    "wangzyon/NVIDIA_SGEMM_PRACTICE", "d6068b13e9997ccff51c9d3cb773afd176fb7d8f", "teaching programs"
)
REPOSITORIES = (LLM_C, SAMPLES, HOW_TO_OPTIM, HOW_TO_OPTIMIZE, CUDACODES, SGEMM_CUDA, SGEMM_PRACTICE)
OWN_BUILDS: dict[tuple[str, str], tuple[str, ...]] = {
    (LLM_C.name, "dev/cuda/nccl_all_reduce.cu"): ("-lmpi",),
    (CUDACODES.name, "matvec/src.cu"): ("kernels/*.cu", "-Iinclude"),
    (CUDACODES.name, "softmax/bench.cu"): ("kernels/*.cu", "-Iinclude"),
    (CUDACODES.name, "softmax/test.cu"): ("kernels/*.cu", "-Iinclude"),
    (SGEMM_CUDA.name, "sgemm.cu"): ("src/*.cu", "-Isrc", "-std=c++20", "--", "1"),
    (SGEMM_PRACTICE.name, "sgemm.cu"): ("src/*.cu", "-Isrc", "--", "1"),
    (HOW_TO_OPTIMIZE.name, "sgemm/sgemm_v1.cu"): ("--", "1024", "1024", "1024"),
    (HOW_TO_OPTIMIZE.name, "sgemm/sgemm_v3.cu"): ("--", "1024", "1024", "1024"),
    **{
        (HOW_TO_OPTIMIZE.name, f"sgemv/Sgemv_v{n}.cu"): ("--", "1024", width)
        for n, width in enumerate(("32", "128", "16"))
    },
    **{
        (HOW_TO_OPTIM.name, f"cuda-kernels/gemv/sgemv_v{n}.cu"): ("--", "1024", width)
        for n, width in enumerate(("32", "128", "16"))
    },
}
"""Programs of several files, with libraries or with arguments, as the repository's own build file and page say.

Where MPI lies (the package mpich, say), the variables CPATH, LIBRARY_PATH and LD_LIBRARY_PATH tell the compiler."""
OTHERS = re.compile(r"cutlass|cute")
MAIN = re.compile(r"\bmain\s*\(")


def main() -> None:
    """Run programs, or list them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("run", "list"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--again", nargs="*", default=[], help="run only programs that had one of these outcomes")
    parser.add_argument("--limit", type=int, default=LIMIT)
    asked = parser.parse_args()
    known = read()
    for program in programs(asked.folder):
        key = (program.repository.name, program.name)
        before = known.get(key)
        if asked.only and not any(one in f"{program.repository.name}/{program.name}" for one in asked.only):
            continue
        if asked.again and (before.outcome if before else "new") not in asked.again:
            continue
        if asked.action == "list":
            print(program.repository.name, program.name, " ".join(program.words))
            continue
        one = run(program, asked.limit)
        write({**read(), key: one})  # several surveys may run side by side
        print(f"{one.outcome:16} {one.seconds:6.1f} s  {one.name}: {one.reason} {' / '.join(one.findings)}", flush=True)


def programs(folder: Path) -> Iterator[Program]:
    """Every program of the lists."""
    for one in REPOSITORIES:
        root = folder.resolve() / one.name.replace("/", "+")
        if one == SAMPLES:
            yield from samples(root)
        elif one == LLM_C:
            for path in sorted((root / "dev/cuda").glob("*.cu")):
                name = str(path.relative_to(root))
                yield Program(name, one, path.parent, (path.name, *OWN_BUILDS.get((one.name, name), ())))
        else:
            yield from files_with_main(root, one)


def samples(root: Path) -> Iterator[Program]:
    """The samples that need no other library: sources, include folders and language as their CMake file says."""
    for path in sorted(root.glob("Samples/[0-6]_*/*/CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8", errors="replace"))
        made = re.search(r"add_executable\(\s*\S+([^)]*)\)", text)
        libraries = " ".join(re.findall(r"target_link_libraries\(([^)]*)\)", text))
        if not made or NOT_SAMPLES.search(libraries) or "WIN32" in made[1] or "d3d" in libraries:
            continue
        folders = re.findall(r"include_directories\(([^)]*)\)", text)
        include = [one for given in folders for one in given.split() if (path.parent / one).is_dir()]
        standard = re.search(r"\bcuda_std_(\d\d)", text)
        words = [*made[1].split(), *(f"-I{one}" for one in include), *([f"-std=c++{standard[1]}"] if standard else [])]
        if "openmp" in libraries.lower():
            words.append("-Xcompiler=-fopenmp")
        yield Program(str(path.parent.relative_to(root)), SAMPLES, path.parent, tuple(words))


def files_with_main(root: Path, one: Repository) -> Iterator[Program]:
    """Each file with a main, built by itself if the repository does not say otherwise."""
    for path in sorted(root.rglob("*.cu")):
        name = str(path.relative_to(root))
        if OTHERS.search(name) or not MAIN.search(path.read_text(encoding="utf-8", errors="replace")):
            continue
        words = [
            str(found.relative_to(path.parent)) if found else word
            for word in OWN_BUILDS.get((one.name, name), ())
            for found in (sorted(path.parent.glob(word)) if "*" in word else [None])
        ]
        yield Program(name, one, path.parent, (path.name, *words))


def run(program: Program, limit: int) -> Outcome:
    """Run a program once under the checker."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        sources, _, given = " ".join(program.words).partition(" -- ")
        options = ["--runs", "1", "--seed", "1", "--timeout", f"{limit}s", "--json", str(report)]
        command = [sys.executable, "-m", "kfuzz", "check", *sources.split(), *options]
        command += ["--", *given.split()] if given else []
        began = time.monotonic()
        with subprocess.Popen(
            command, cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        ) as process:
            try:
                raw, _ = process.communicate(timeout=WALL + 5 * limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 15)
                raw, _ = process.communicate()
                raw += b"\nno answer in time"
        said = raw.decode(errors="replace")
        return judge(program, process.returncode, said, report, time.monotonic() - began)


def judge(program: Program, code: int, said: str, report: Path, seconds: float) -> Outcome:
    """The outcome of a run, from its exit code and its report."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("ignored options")]
    if not report.exists():
        reason = next((one for one in lines if "error" in one or "does not have" in one), lines[0] if lines else "")
        outcome = "time out" if "no answer in time" in said else "cannot run"
        return Outcome(program.repository.name, program.name, outcome, shorten(reason, program), seconds=round(seconds))
    made = json.loads(report.read_text())
    kernel = made["kernels"][0]
    found = dict.fromkeys(
        f"{one['kind']}{'' if one['severity'] == 'error' else ' (warning)'} {place(one, program)}"
        for one in kernel["findings"]
    )
    launches = int(count[1]) if (count := re.search(r"(\d+) launch", lines[-1])) else 0
    trouble = kernel["unjudged"]
    if code == 1 or (found and not all("(warning)" in one for one in found)):
        outcome = "finding"
    elif "no answer in time" in said or "did not end" in trouble:
        outcome = "time out"
    elif "ends with exit code" in trouble:
        outcome = "own error"
    elif "cannot run" in trouble:
        outcome = "cannot run"
    elif launches == 0:
        outcome = "nothing launched"
    else:
        outcome = "cannot run" if code else "ran"
    return Outcome(
        *(program.repository.name, program.name, outcome, shorten(trouble, program)),
        *(tuple(found), launches, round(made["seconds"], 1)),
    )


def place(finding: dict[str, object], program: Program) -> str:
    """The file and line of a finding."""
    where = str(finding.get("file") or finding.get("path") or "")
    return f"{Path(where).name or program.name}:{finding.get('line', '')}"


def shorten(text: str, program: Program) -> str:
    """One line without the folders of this machine."""
    line = text.splitlines()[0] if text else ""
    return re.sub(r"(?<![\w.])/[\w.+/-]+/", "", line.replace(f"{program.folder}/", ""))[:200]


def read() -> dict[tuple[str, str], Outcome]:
    """The outcomes that are known."""
    if not DATA.exists():
        return {}
    rows = json.loads(DATA.read_text(encoding="utf-8"))["programs"]
    every = (Outcome(**{**row, "findings": tuple(row["findings"])}) for row in rows)
    return {(one.repository, one.name): one for one in every}


def write(known: dict[tuple[str, str], Outcome]) -> None:
    """Keep the outcomes, in order."""
    rows = [asdict(known[key]) for key in sorted(known)]
    DATA.write_text(json.dumps({"programs": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(_: Sequence[str]) -> Figures:
    """The counts of each list, every accusation, and what each program that did not run to its end needs."""
    known = tuple(read().values())
    unfinished = [one for one in known if one.outcome not in ("ran", "nothing launched", "finding")]
    return Figures({"outcomes": [*OUTCOMES], "repositories": {one.name: one.commit for one in REPOSITORIES}}, {
        "lists": list(count_lists(known)), "accusations": list(accusations(known)),
        "unfinished": [
            {"program": f"{one.repository}: {one.name}", "outcome": one.outcome, "words": one.reason}
            for one in unfinished
        ],
    })  # fmt: skip


def accusations(known: Sequence[Outcome]) -> Iterator[Record]:
    """Every error, by program and by the reason why it is true; the reason is empty if it is not settled."""
    why = {
        (repository, program, finding): reason
        for repository, program, findings, reason in json.loads(TRUE.read_text(encoding="utf-8"))
        for finding in findings
    }
    for one in known:
        errors = [finding for finding in one.findings if "(warning)" not in finding]
        reasons = {finding: why.get((one.repository, one.name, finding), "") for finding in errors}
        for reason in dict.fromkeys(reasons.values()):
            alike = [finding for finding in errors if reasons[finding] == reason]
            yield {"program": f"{one.repository}: {one.name}", "findings": alike, "reason": reason}


def came_to_its_end(one: Outcome) -> bool:
    """Whether the program ended by itself, with a finding or without."""
    return one.outcome in ("ran", "nothing launched", "own error") or (one.outcome == "finding" and not one.reason)


def count_lists(known: Sequence[Outcome]) -> Iterator[Record]:
    """The number of programs of each list, by outcome."""
    belongs = {one.name: one.belongs_to for one in REPOSITORIES}
    for name in dict.fromkeys(belongs.values()):
        listed = [one for one in known if belongs[one.repository] == name]
        counts = Counter(one.outcome for one in listed)
        yield {
            "list": name, "programs": len(listed), "to_the_end": sum(map(came_to_its_end, listed)),
            **{one: counts[one] for one in OUTCOMES},
        }  # fmt: skip


if __name__ == "__main__":
    main()

"""The lists of public programs: which repositories, at which commit, and how each program is built."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
_OF_CHOSEN = "tensor cores and TMA"
CUTLASS = Repository("NVIDIA/cutlass", "7107b05", _OF_CHOSEN)
THUNDER_KITTENS = Repository("HazyResearch/ThunderKittens", "0b55588", _OF_CHOSEN)
LEETCUDA = Repository("xlite-dev/LeetCUDA", "cb6a049", _OF_CHOSEN)
_CUTE = "examples/cute/tutorial"
_OF_CUTE = ("-std=c++17", "-I../../../include", "-I../../../tools/util/include")
_OF_HOPPER = ("-std=c++17", "-arch=sm_90a", "-I../../../../include", "-I../../../../tools/util/include")
_OF_TESTS = (
    *("-arch=sm_90a", "-std=c++20", "-DKITTENS_HOPPER", "-Itesting_commons", "-I../include", "-I."),
    "-DTEST_INTENSITY=1",
)
_MULTICAST = (
    *("testing_commons/testing_utils.cu", "thread/thread.cu", "thread/memory/memory.cu", "thread/memory/tile/tile.cu"),
    *("thread/memory/tile/tma_multicast.cu", *_OF_TESTS, "-DTEST_THREAD_MEMORY_TILE_TMA_MULTICAST"),
)
_WGMMA = (
    *("testing_commons/testing_utils.cu", "group/group.cu", "group/mma/mma.cu", "group/mma/warpgroup/warpgroup.cu"),
    *("group/mma/warpgroup/fp32_bf16.cu", *_OF_TESTS, "-DTEST_GROUP_MMA_WARPGROUP_FP32_BF16"),
)
CHOSEN: tuple[tuple[Repository, str, tuple[str, ...]], ...] = (
    (CUTLASS, f"{_CUTE}/sgemm_1.cu", (*_OF_CUTE, "--", "128", "128", "32")),
    (CUTLASS, f"{_CUTE}/hopper/wgmma_sm90.cu", (*_OF_HOPPER, "--", "128", "128", "64")),
    (CUTLASS, f"{_CUTE}/hopper/wgmma_tma_sm90.cu", (*_OF_HOPPER, "--", "256", "128", "128")),
    (LEETCUDA, "kernels/swizzle/mma_simple_swizzle.cu", ("-arch=sm_80",)),
    (LEETCUDA, "kernels/swizzle/mat_trans_swizzle.cu", ("-arch=sm_80", "--", "256", "256")),
    (LEETCUDA, "kernels/swizzle/hgemm_mma_swizzle.cu", ("-arch=sm_80", "--", "128", "128", "64")),
    (
        Repository(SAMPLES.name, SAMPLES.commit, _OF_CHOSEN),
        "Samples/3_CUDA_Features/globalToShmemAsyncCopy/globalToShmemAsyncCopy.cu",
        ("-arch=sm_80", "-I../../../Common", "--", "wA=64", "hA=64", "wB=64", "hB=64", "kernel=0"),
    ),
    (THUNDER_KITTENS, "tests/unit_tests.cu of TMA multicast", _MULTICAST),
    (THUNDER_KITTENS, "tests/unit_tests.cu of wgmma", _WGMMA),
)
"""Kernels of tensor cores, asynchronous copies and TMA, at sizes that a CPU can run: by the programs' own arguments.
A name is a source, and what of it is built."""
OTHERS = re.compile(r"cutlass|cute")
MAIN = re.compile(r"\bmain\s*\(")


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
    for one, name, words in CHOSEN:
        path = folder.resolve() / one.name.replace("/", "+") / name.partition(" ")[0]
        yield Program(name, one, path.parent, (path.name, *words))


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

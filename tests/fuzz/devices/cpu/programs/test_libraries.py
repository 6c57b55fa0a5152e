"""Programs that call NVIDIA's libraries: the numbers are right, and each planted bug, and nothing else, is found."""

import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from paths import DATA
from program_runs import built, check_program

from kfuzz.devices import UnsupportedError
from kfuzz.devices.cpu.libraries import find_missing
from kfuzz.devices.cpu.programs.build import compile_source
from kfuzz.devices.cpu.programs.command_line import NvccSource

pytestmark = pytest.mark.slow

LIBRARIES = DATA / "libraries"
PLACES = [
    *((1234, 0, 0), (1234, 1, 0), (1234, 0, 5), (0, 0, 0), (0xDEADBEEFCAFEF00D, 77777, 123456789012)),
    *((42, 1 << 40, 3), (42, 3, 1 << 34)),
]
"""The seeds, subsequences and offsets of random.cu."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each program, built once: its argument chooses a bug."""
    return {one.stem: built(tmp_path_factory.mktemp(one.stem), str(one)) for one in sorted(LIBRARIES.glob("*.cu"))}


run = partial(check_program, runs=1)


def line_of(name: str, words: str) -> int:
    """The line of a program that has these words."""
    lines = (LIBRARIES / f"{name}.cu").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


def test_products_are_right_and_nothing_is_accused(programs: dict[str, Path]) -> None:
    right, findings = run(programs["blas"], runs=2)
    assert findings == []
    assert [one.output for one in right.printed] == ["wrong: 0, line 0\n"] * 2


def test_factors_and_products_of_the_host_are_right_and_nothing_is_accused(programs: dict[str, Path]) -> None:
    right, findings = run(programs["factors"], runs=2)
    assert findings == []
    assert [one.output for one in right.printed] == ["wrong: 0\n"] * 2


def test_quasi_random_numbers_are_right_and_nothing_is_accused(programs: dict[str, Path]) -> None:
    right, findings = run(programs["sobol"], runs=2)
    assert findings == []
    assert [one.output for one in right.printed] == ["wrong: 0\n"] * 2


def test_collectives_of_one_rank_are_right_and_nothing_is_accused(programs: dict[str, Path]) -> None:
    right, findings = run(programs["nccl"], runs=2)
    assert findings == []
    assert [one.output for one in right.printed] == ["wrong: 0, the sum: 499500\n"] * 2
    grouped, _ = run(programs["nccl"], "before the group ends")
    assert grouped.printed[0].output == "wrong: 999, the sum: 499500\n"  # the group saw the later copy


def test_more_ranks_than_one_end_the_run_and_are_no_finding(programs: dict[str, Path]) -> None:
    one, findings = run(programs["nccl"], "two ranks")
    assert findings == []
    assert "NCCL has one rank on the cpu device, which is one GPU; the program asks for 2" in one.refusal


@pytest.mark.parametrize("way", ["11 dimensions", "eleventh"])
def test_dimensions_that_are_not_there_end_the_run_and_are_no_finding(way: str, programs: dict[str, Path]) -> None:
    one, findings = run(programs["sobol"], way)
    assert findings == []
    assert "cuRAND's quasi-random generators have 10 dimensions on the cpu device" in one.refusal


def test_textures_and_surfaces_are_right_and_nothing_is_accused(programs: dict[str, Path]) -> None:
    right, findings = run(programs["images"], runs=2)
    assert findings == []
    counts = re.findall(r"(?:linear|mode \d:|memory|solid|cube|surface) (\d+)", right.printed[0].output)
    assert counts == ["0"] * 9, right.printed[0].output


@pytest.mark.parametrize(
    ("name", "bug", "kind", "words"),
    [
        ("blas", "leading dimension", "out-of-bounds", "// the product"),
        ("blas", "uninitialised", "uninitialised", "// the product"),
        ("blas", "freed", "use-after-free", "// the product"),
        ("blas", "no event", "race", "// the product"),
        ("blas", "read too early", "race", "// the early copy"),
        ("factors", "unwritten", "uninitialised", "// the factors"),
        ("factors", "too short", "out-of-bounds", "// the factors"),
        ("random", "too many", "out-of-bounds", "// the host's generator"),
        ("random", "not waited for", "race", "cudaMemcpy(here, there"),
        ("random", "not started", "uninitialised", "curandState state = states[i];"),
        ("sobol", "too many", "out-of-bounds", "// the words"),
        ("nccl", "unwritten", "uninitialised", "// the sum"),
        ("nccl", "too many", "out-of-bounds", "// the sum"),
        ("nccl", "other stream", "race", "// the sum"),
        ("nccl", "not waited for", "race", "// the copy"),
        ("images", "uninitialised", "uninitialised", "// the sample"),
        ("images", "freed", "use-after-free", "// the sample"),
        ("images", "destroyed", "illegal-address", "// the sample"),
        ("images", "too long", "out-of-bounds", "out[i] = tex1Dfetch"),
        ("images", "beyond the edge", "out-of-bounds", "// the write"),
        ("images", "seventh face", "out-of-bounds", "// the face"),
        ("images", "elements for bytes", "misaligned", "surf2Dread(&value"),
        ("images", "race", "race", "// the read"),
    ],
)
def test_a_bug_is_found_through_a_call_of_a_library(
    programs: dict[str, Path], name: str, bug: str, kind: str, words: str
) -> None:
    _, findings = run(programs[name], bug, runs=1)
    errors = {(one.kind, line) for one in findings if one.severity == "error" for line in (one.line, one.other_line)}
    assert (kind, line_of(name, words)) in errors, findings


def printed_numbers(output: str) -> dict[str, list[str]]:
    """The words of each line that the random program prints, by the name before them."""
    pairs = (re.fullmatch(r"(\D+?) (\S*\d.*)", line) for line in output.splitlines())
    return {one[1]: one[2].split() for one in pairs if one}


def step_xorwow(seed: int, offset: int, count: int) -> list[str]:
    """Words of XORWOW by Marsaglia's recurrence, step by step."""
    low, high = (seed & 0xFFFFFFFF) ^ 0xAAD26B49, seed >> 32 ^ 0xF7DCEFDD
    low, high = low * 1099087573 & 0xFFFFFFFF, high * 2591861531 & 0xFFFFFFFF
    x, y, z, w, v = 123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low
    x, y, z, w, v = (one & 0xFFFFFFFF for one in (x, y, z, w, v))
    d, words = 6615241 + low + high, []
    for _ in range(offset + count):
        t = x ^ x >> 2
        x, y, z, w = y, z, w, v
        v = (v ^ v << 4 ^ t ^ t << 1) & 0xFFFFFFFF
        d += 362437
        words.append(f"{d + v & 0xFFFFFFFF:08x}")
    return words[offset:]


def compute_philox(key: int, counter: int) -> list[str]:
    """The four words of Philox4x32-10."""
    c, k = [counter >> 32 * i & 0xFFFFFFFF for i in range(4)], [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        one, other = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [other >> 32 ^ c[1] ^ k[0], other & 0xFFFFFFFF, one >> 32 ^ c[3] ^ k[1], one & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return [f"{one:08x}" for one in c]


def test_philox_gives_the_known_answers_of_random123() -> None:
    ones, pi = (1 << 128) - 1, 0x03707344_13198A2E_85A308D3_243F6A88
    assert compute_philox(0, 0) == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    assert compute_philox((1 << 64) - 1, ones) == ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"]
    assert compute_philox(0x299F31D0_A4093822, pi) == ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"]


def test_random_words_are_those_of_the_published_generators(programs: dict[str, Path]) -> None:
    right, findings = run(programs["random"], runs=2)
    assert findings == []
    got = printed_numbers(right.printed[0].output)
    words, philox = (np.array(got[name]).reshape(-1, 8).tolist() for name in ("xorwow", "philox"))
    assert [words[0], words[2], words[3]] == [step_xorwow(1234, 0, 8), step_xorwow(1234, 5, 8), step_xorwow(0, 0, 8)]
    for row, (seed, subsequence, offset) in zip(philox, PLACES, strict=True):
        first = (subsequence << 64) + offset // 4
        four = [word for i in range(3) for word in compute_philox(seed, first + i)]
        assert row == four[offset % 4 :][:8]
        assert got["fours"][4 * PLACES.index((seed, subsequence, offset)) :][:4] == row[:4]
    for name, uniform in (("xorwow", "xorwow single"), ("philox", "philox single")):
        exact = [np.float32(np.float32(int(one, 16)) * 2.0**-32 + 2.0**-33) for one in got[name]]
        assert [np.float32(float.fromhex(one)) for one in got[uniform]] == exact
    # The output of NVIDIA's example of the host's generator with seed 1234: first words of ten subsequences.
    assert " ".join(got["host"]) == "0.1455 0.8202 0.5504 0.2948 0.9147 0.8690 0.3219 0.7829 0.0113 0.2855"
    assert "normal yes" in right.printed[0].output


@pytest.mark.gpu
def test_random_words_are_those_of_curand(programs: dict[str, Path], tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    command = [nvcc, "-o", str(tmp_path / "random"), str(LIBRARIES / "random.cu"), "-lcurand"]
    subprocess.run(command, check=True, capture_output=True)
    real = subprocess.run([tmp_path / "random"], check=True, capture_output=True, text=True).stdout
    assert run(programs["random"], runs=1)[0].printed[0].output == real


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("cufftDestroy(0);", "cufftDestroy, a part of cuFFT"),
        pytest.param("cublasStrsm(0);", "cublasStrsm, a part of cuBLAS", marks=pytest.mark.soak),  # as the one above
        ("curand_poisson(&state, 3.0);", "this part of cuRAND"),
        ("curandStateMRG32k3a state;", "this part of cuRAND"),
        ("texture<float, 2> image;", "texture references, which CUDA 12 removed: use texture objects"),
        ("cudaMallocMipmappedArray(&array);", "this part of textures and surfaces"),
    ],
)
def test_a_library_that_is_not_there_is_refused_in_one_line(tmp_path: Path, call: str, words: str) -> None:
    source = tmp_path / "program.cu"
    source.write_text(f"int main() {{\n  {call}\n}}\n")
    with pytest.raises(UnsupportedError, match=rf"program\.cu:2: the cpu device does not have {words}$"):
        compile_source(NvccSource(source, "cu"), ())


def test_a_function_of_the_driver_that_is_not_there_is_named_with_its_line() -> None:
    complaint = "k.cu:6:18: error: 'cuTensorMapEncodeIm2col' was not declared in this scope"
    wanted = "k.cu:6: the cpu device does not have cuTensorMapEncodeIm2col, a part of CUDA's driver API"
    assert find_missing(complaint) == wanted

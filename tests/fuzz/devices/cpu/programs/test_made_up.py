"""Input that kfuzz makes up: arguments by a usage or a source, and numbers to read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forked import run_forked

from kfuzz.devices.cpu.programs.made_up import guess_arguments


@pytest.mark.parametrize(
    ("printed", "text", "wanted"),
    [
        ("Usage: ./scan <num elements> <block size>\n", "", [("1024", "32")]),
        ("usage: prog N [iterations]", "", [("1024", "2")]),
        ("Usage: mm -n <size> -d <device id>", "", [("-n", "1024", "-d", "0")]),
        ("USAGE: blur in.png out.png", "", []),
        ("Usage: sort <input file> <N>", "int n = atoi(argv[2]); open(argv[1]);", []),
        ("", "int rows = atoi(argv[1]); float rate = atof(argv[2]);", [("128", "0.5")]),
        ("", "int mode = argv[1][0] - '0';", [("1",)]),
        ("", "size_t n = (size_t) std::stoul(argv[1]);", [("1024",)]),
        ("", "const char *file = argv[1]; int n = atoi(argv[2]);", []),
        ("Usage: a.out N", "int n = atoi(argv[1]), steps = atoi(argv[2]);", [("1024",), ("1024", "2")]),
    ],
)
def test_arguments_are_of_the_kind_that_the_usage_or_the_source_names(
    printed: str, text: str, wanted: list[tuple[str, ...]]
) -> None:
    assert list(guess_arguments(printed, [text])) == wanted


BEGIN = "#include <cstdio>\n#include <cstdlib>\n"
BEGIN += "__global__ void k(int *a, int n) { if (threadIdx.x <= n) a[threadIdx.x] = n; }\n"
END = "  int *a;\n  cudaMalloc(&a, n * sizeof n);\n  k<<<1, m>>>(a, n);\n  return cudaDeviceSynchronize();\n}\n"
WITH_USAGE = (
    'int main(int count, char **argv) {\n  if (count < 3) return puts("Usage: prog <block> <iterations>"), 1;\n'
)
WITH_USAGE += "  int n = atoi(argv[1]), m = atoi(argv[2]);\n"
UNGUARDED = "int main(int, char **argv) {\n  int n = atoi(argv[1]), m = 1;\n"
READING = 'int main() {\n  int n, m;\n  scanf("%d%d", &n, &m);\n'


@pytest.mark.soak
@pytest.mark.parametrize(
    ("main", "given", "input_text", "code", "reported"),
    [
        (WITH_USAGE, (), "", 0, "it launched nothing without arguments, and ran as `prog 32 2`: write yours after --"),
        (WITH_USAGE, ("--", "3", "4"), "", 1, "writes a[3]; a has 3 ints"),
        (UNGUARDED, (), "", 0, "ran as `prog 1024`"),
        (READING, (), "", 0, "it read the numbers 64, 32, 16, 8, 4, 2, then 1, from its standard input"),
        (READING, (), "3 4", 1, "writes a[3]; a has 3 ints"),
    ],
)
def test_a_program_that_gets_no_input_gets_small_numbers(
    main: str, given: tuple[str, ...], input_text: str, code: int, reported: str, tmp_path: Path
) -> None:
    (tmp_path / "prog.cu").write_text(f"{BEGIN}{main}{END}")
    (tmp_path / "input").write_text(input_text)
    command = [sys.executable, "-m", "kfuzz", "check", "prog.cu", "--runs", "1", "--seed", "1", *given]
    with (tmp_path / "input").open() if input_text else open(os.devnull) as own:
        done = subprocess.run(command, cwd=tmp_path, stdin=own, capture_output=True, text=True, check=False)
    assert reported in done.stdout
    assert done.returncode == code


WITHOUT_A_FILE = '#include <cstdio>\n__global__ void k() {}\nint main() {\n  fgetc(fopen("image.png", "rb"));\n'
WITHOUT_A_FILE += "  k<<<1, 1>>>();\n  return cudaDeviceSynchronize();\n}\n"


@pytest.mark.slow(4)
def test_a_program_that_ends_for_want_of_a_file_before_its_first_launch_is_not_broken(tmp_path: Path) -> None:
    (tmp_path / "prog.cu").write_text(WITHOUT_A_FILE)
    done = run_forked("kfuzz", "check", "prog.cu", "--runs", "1", "--seed", "1", cwd=tmp_path)
    assert "WARNING  prog: trap, `fgetc(fopen(" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("prog: nothing was tested, 1 warning")
    assert "found trap" not in done.stdout
    assert done.returncode == 2

"""Input that kfuzz makes up: arguments by a usage or a source, and numbers to read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forked import run_forked
from program_runs import check_text

from kfuzz.devices.cpu.programs.made_up import Guesses, MadeUpInput, guess_arguments, guess_numbers


@pytest.mark.parametrize(
    ("printed", "text", "wanted"),
    [
        ("Usage: ./scan <num elements> <block size>\n", "", [("1024", "32")]),
        ("usage: prog N [iterations]", "", [("1024", "2")]),
        ("Usage: mm -n <size> -d <device id>", "", [("-n", "1024", "-d", "0")]),
        ("USAGE: blur in.png out.png", "", [("made_up_1.txt", "made_up_2.txt")]),
        ("USAGE: blur <images dir>", "", []),
        ("", "FILE *f = fopen(argv[1], m); int n = atoi(argv[2]);", [("made_up_1.txt", "1024")]),
        ("", "std::ifstream f(argv[1]); char *out_file = argv[2];", [("made_up_1.txt", "made_up_2.txt")]),
        ("Usage: sort <input file> <N>", "int n = atoi(argv[2]); open(argv[1]);", [("made_up_1.txt", "1024")]),
        ("", "int rows = atoi(argv[1]); float rate = atof(argv[2]);", [("128", "0.5")]),
        ("", "int mode = argv[1][0] - '0';", [("1",)]),
        ("", "size_t n = (size_t) std::stoul(argv[1]);", [("1024",)]),
        ("", "int n = stoi(std::string(argv[1])); sscanf(argv[2], f, &m);", [("1024", "1024")]),
        ("Usage: conv <image_size> <in.png>", "", [("1024", "made_up_2.txt")]),
        ("Usage: conv <image_size> <num_images>", "", [("1024", "1024")]),
        ("", "const char *word = argv[1]; int n = atoi(argv[2]);", []),
        ("Usage: a.out N", "int n = atoi(argv[1]), steps = atoi(argv[2]);", [("1024",), ("1024", "2")]),
    ],
)
def test_arguments_are_of_the_kind_that_the_usage_or_the_source_names(
    printed: str, text: str, wanted: list[tuple[str, ...]]
) -> None:
    assert [tuple(Path(one).name for one in words) for words in guess_arguments(printed, [text])] == wanted


ASKING = (
    'printf("Which GPU? ");\nscanf("%d", &d);\nstd::cout << "rows and blocks: "; std::cin >> n >> m; scanf("%d", &k);'
)


def test_numbers_to_read_are_of_the_kind_that_the_prompt_or_the_variable_names() -> None:
    assert next(guess_numbers([ASKING])) == (0, 64, 128, 128)


def test_the_arguments_of_main_have_any_name() -> None:
    guesses = Guesses(["int main(int n, char const *str[]) { int rows = atoi(str[1]); }"], has_own_arguments=False)
    assert guesses.next_after("", reads_input=False, is_late=False) == MadeUpInput(("128",))


def test_a_program_that_works_too_long_gets_smaller_sizes_first_and_one_that_ends_gets_them_last() -> None:
    usage, text = "usage: prog <n> <matrix size>", "int n = atoi(argv[1]);"
    late, idle = (Guesses([text], has_own_arguments=False) for _ in "12")
    told = [one.next_after(usage, False, is_late) for one, is_late in ((late, True), (idle, False)) for _ in "123"]
    assert [one and one.arguments for one in told] == [
        *(("1024", "128"), ("128", "16"), ("16", "16")),
        *(("1024", "128"), ("1024",), ("128", "16")),
    ]


BEGIN = "#include <cstdio>\n#include <cstdlib>\n"
BEGIN += "__global__ void k(int *a, int n) { if (threadIdx.x <= n) a[threadIdx.x] = n; }\n"
END = "  int *a;\n  cudaMalloc(&a, n * sizeof n);\n  k<<<1, m>>>(a, n);\n  return cudaDeviceSynchronize();\n}\n"
WITH_USAGE = (
    'int main(int count, char **argv) {\n  if (count < 3) return puts("Usage: prog <block> <iterations>"), 1;\n'
)
WITH_USAGE += "  int n = atoi(argv[1]), m = atoi(argv[2]);\n"
UNGUARDED = "int main(int, char **argv) {\n  int n = atoi(argv[1]), m = 1;\n"
SLOW = f"{UNGUARDED}  for (volatile long i = 0; i < 1l * n * n * n * n / 16; i = i + 1) {{}}\n"
OF_FILE = 'int main(int count, char **argv) {\n  int n, m = 1;\n  fscanf(fopen(argv[1], "r"), "%d", &n);\n'
SQUARE = UNGUARDED.replace("m = 1", "m = n * n / 32")
ASKS_GPU = (
    'int main() {\n  int d, n, m;\n  puts("GPU"), scanf("%d%d%d", &d, &n, &m);\n  if (cudaSetDevice(d)) return 1;\n'
)
READING = 'int main() {\n  int n, m;\n  scanf("%d%d", &n, &m);\n'


@pytest.mark.soak
@pytest.mark.parametrize(
    ("main", "given", "input_text", "code", "reported"),
    [
        (WITH_USAGE, (), "", 0, "it launched nothing without arguments, and ran as `prog 32 2`: write yours after --"),
        (WITH_USAGE, ("--", "3", "4"), "", 1, "writes a[3]; a has 3 ints"),
        (UNGUARDED, (), "", 0, "ran as `prog 1024`"),
        (SLOW, ("--max-time", "40s"), "", 0, "ran as `prog 128`"),
        (OF_FILE, (), "", 0, "inputs/made_up_1.txt`: write yours after --"),
        (SQUARE, (), "", 0, "ran as `prog 128`"),
        (ASKS_GPU, (), "", 0, "it read the numbers 0, 64, 32, 16, 8, 4, 2, then 1, from its standard input"),
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


FINDS = "#include <unistd.h>\nint main(int, char **argv) { return access(argv[1], R_OK); }\n"
LAUNCHES = "  int *a;\n  cudaMalloc(&a, 4);\n  k<<<1, 1>>>(a, 0);\n  cudaDeviceSynchronize();\n"
OPENS = '  fgetc(fopen("image.png", "rb"));\n'
CRASH = "WARNING  prog: trap, `fgetc(fopen("


@pytest.mark.slow(4)
@pytest.mark.parametrize(
    ("body", "reported", "verdict", "code"),
    [
        pytest.param(OPENS + LAUNCHES, CRASH, "prog: nothing was tested, 1 warning", 2, marks=pytest.mark.soak),
        (LAUNCHES + OPENS, CRASH, "prog: nothing found in what ran, 1 warning: 1 run, 1 launch", 0),
        (LAUNCHES + "  return 3;\n", "prog: the program itself ends with exit code 3", "prog: nothing found: 1 run", 0),
    ],
)
def test_what_the_host_does_to_itself_is_a_warning_and_the_launches_before_it_count(
    body: str, reported: str, verdict: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "prog.cu").write_text(f"{BEGIN}int main() {{\n{body}}}\n")
    done = run_forked("kfuzz", "check", "prog.cu", "--runs", "1", "--seed", "1", cwd=tmp_path)
    assert reported in done.stdout
    assert done.stdout.splitlines()[-1].startswith(verdict)
    assert "found trap" not in done.stdout
    assert done.returncode == code


@pytest.mark.slow(4)
def test_a_run_begins_in_the_folder_of_its_caller_not_in_that_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path(name).touch()
        found += [one.exit_code for one in check_text(tmp_path, FINDS, name, runs=1)[0].printed]
    assert found == [0, 0]

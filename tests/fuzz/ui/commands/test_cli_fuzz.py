"""`kfuzz fuzz`, `minimize`, `replay` and `show CASE`: what they print, what they keep, and their exit codes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner, Result
from paths import ROOT
from with_nvcc import needs_nvcc
from wrong_twins import without_confession

from kfuzz.campaign.trials.replay import replay
from kfuzz.cases import case_file
from kfuzz.cases.case import Case, Origin, Record, case_of
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu.device import why_not
from kfuzz.ui.commands.group import main
from kfuzz.ui.targets.targets import find_files

MINE = without_confession(KERNELS / "broken" / "leading_neg_inf.cu")
FIXED = MINE.replace(
    "const float value = x[col];", "const float value = x[col];\n        if (value == -INFINITY) continue;"
)
SMALL = case_of("softmax", {"x": np.array([[-np.inf, 0.0]], np.float32)})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own folder, with a kernel that has a bug."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.cu").write_text(MINE)
    return tmp_path


def kfuzz(*arguments: str) -> Result:
    device = () if arguments[0] == "show" else ("--device", "cpu")
    return CliRunner().invoke(main, [*arguments, *device])


def keep_case(folder: Path, case: Case = SMALL, kernel: str = "mine", name: str = "case.json") -> Path:
    place = folder / "tests" / "corpus" / case.op
    place.mkdir(parents=True, exist_ok=True)
    origin = Origin(kernel, f"{kernel}: special, -inf minus -inf", "special", "y is NaN", "cpu", {"threads": 32})
    case_file.write(place / name, Record(case, origin))
    return place / name


@pytest.mark.skipif(why_not() is None, reason="this machine has a GPU")
def test_without_a_gpu_fuzz_proposes_the_cpu_device() -> None:
    done = CliRunner().invoke(main, ["fuzz", "mine.cu", "--device", "gpu", "--max-cases", "1"])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert done.output.endswith(". To fuzz without a GPU, use --device cpu\n")


def test_a_bug_is_found_kept_and_reported(folder: Path) -> None:
    done = kfuzz(
        "fuzz", "mine.cu", "--max-cases", "40", "--seed", "1", "--jobs", "1", "--json", "r.json", "--junit", "j.xml"
    )
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "fuzzing mine on the cpu (seed 1); compiling"
    assert any("] shrinking 1 of 1: mine: special, -inf minus -inf" in line for line in lines)
    assert "BROKEN  mine: special, -inf minus -inf" in done.stdout
    assert "broken: 1 of 1 kernel" in done.stdout
    report = json.loads((folder / "r.json").read_text())
    assert (report["exit_code"], report["trials"], report["seed"], report["device"]) == (1, 40, 1, "cpu")
    cases = {finding["case"] for finding in report["kernels"][0]["findings"]}
    assert cases == {str(path.relative_to(folder)) for path in (folder / "tests" / "corpus").rglob("*.json")}
    assert ET.parse(folder / "j.xml").getroot().get("failures") == "1"  # noqa: S314  our own file


@pytest.mark.soak
@needs_nvcc
@pytest.mark.slow(3)
def test_the_same_bug_is_found_in_what_nvcc_writes(folder: Path) -> None:
    done = kfuzz("fuzz", "mine.cu", "--device", "cpu", "--through", "nvcc", "--max-cases", "30", "--seed", "1")
    assert done.exit_code == 1, done.output
    (case,) = folder.glob("tests/corpus/softmax/*.json")
    for command in (("replay", str(case)), ("minimize", str(case), "--max-time", "1s")):
        again = kfuzz(*command, "--kernel", "mine.cu", "--device", "cpu", "--through", "nvcc")
        assert again.exit_code == (1 if command[0] == "replay" else 0), again.output
    (folder / "mine.cu").write_text(FIXED)
    fixed = kfuzz("replay", str(case), "--kernel", "mine.cu", "--device", "cpu", "--through", "nvcc")
    assert fixed.exit_code == 0, fixed.output


@pytest.mark.soak
def test_the_same_seed_gives_the_same_findings_with_any_number_of_jobs(folder: Path) -> None:
    reported = []
    for jobs in ("1", "2"):
        kfuzz(
            "fuzz", "mine.cu", "--max-cases", "24", "--seed", "5", "--jobs", jobs, "--corpus", jobs, "--json", "r.json"
        )
        report = json.loads((folder / "r.json").read_text())
        reported.append([(f["bucket"], f["first_trial"], f["words"]) for f in report["kernels"][0]["findings"]])
    assert reported[0]
    assert reported[0] == reported[1]


@pytest.mark.slow
def test_what_a_baseline_knows_is_no_failure(folder: Path) -> None:
    first = kfuzz("fuzz", "mine.cu", "--max-cases", "30", "--seed", "1", "--jobs", "1", "--json", "old.json")
    again = kfuzz("fuzz", "mine.cu", "--max-cases", "30", "--seed", "1", "--jobs", "1", "--baseline", "old.json")
    assert (first.exit_code, again.exit_code) == (1, 0), again.output
    assert "nothing new is broken" in again.stdout
    (folder / "old.json").write_text("{}")
    damaged = kfuzz("fuzz", "mine.cu", "--max-cases", "3", "--baseline", "old.json")
    assert (damaged.exit_code, "kfuzz-report/1" in damaged.stderr) == (2, True)


def test_a_right_kernel_is_never_accused(folder: Path) -> None:
    (folder / "mine.cu").write_text(FIXED)
    done = kfuzz("fuzz", "mine.cu", "--max-cases", "30", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "nothing found: 30 trials" in done.stdout
    assert not (folder / "tests").exists()


@pytest.mark.slow
def test_a_campaign_is_resumed_with_its_seed(folder: Path) -> None:
    kfuzz("fuzz", "mine.cu", "--max-cases", "5", "--seed", "77", "--jobs", "1", "--out", "state")
    done = kfuzz("fuzz", "mine.cu", "--max-cases", "9", "--jobs", "1", "--out", "state")
    report = json.loads((folder / "state" / "report.json").read_text())
    assert (report["seed"], report["trials"]) == (77, 9), done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fuzz", "nosuch"), "nosuch: no kernel, .cu, .ptx or .py file or folder of that name"),
        (("fuzz", "mine.cu", "--max-time", "soon"), "'soon' is not a time; write 60, 60s, 5m or 1h"),
        (("fuzz", "mine.cu", "--max-time", "0"), "is not a time"),
        (("fuzz", "mine.cu", "--max-cases", "0"), "x>=1"),
        (("fuzz", "mine.cu", "--corpus", "file/below"), "not a writable folder"),
        (("fuzz", "mine.cu", "--baseline", "nosuch.json"), "nosuch.json: cannot be read"),
        (("fuzz", "empty"), "empty: no .cu, .ptx or .py file below it has a claim"),
        (("replay", "nosuch"), "nosuch: no such file or folder"),
        (("replay", "empty"), "nothing to replay"),
        (("minimize", "nosuch.json"), "nosuch.json: cannot be read"),
        (("show", "nosuch.json"), "nosuch.json: cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    (folder / "file").write_text("")
    (folder / "empty").mkdir()
    done = kfuzz(*arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert "Traceback" not in done.output


def cases(path: Path) -> dict[str, ET.Element]:
    """The test cases of a JUnit file by name, each with what it holds."""
    return {str(one.get("name")): one for one in ET.parse(path).iter("testcase")}  # noqa: S314  our own file


def test_one_unusable_file_does_not_keep_the_others_from_being_fuzzed(folder: Path) -> None:
    (folder / "mine.cu").write_text(FIXED)
    (folder / "bad.cu").write_text(FIXED.replace('"softmax"', '"softmix"', 1))
    (folder / "worse.cu").write_text(FIXED.replace("f32[rows, cols]", "f8[rows, cols]", 1))
    done = kfuzz("fuzz", ".", "--max-cases", "9", "--jobs", "1", "--junit", "j.xml", "--json", "r.json")
    assert done.exit_code == 2
    assert done.stderr.count("softmix") == done.stderr.count("f8[rows, cols]") == 1
    assert "nothing found: 9 trials" in done.stdout
    assert "; 2 kernels could not be judged, see above" in done.stdout
    reported = cases(folder / "j.xml")
    assert {name: one.find("error") is not None for name, one in reported.items()} == {
        "mine": False, "bad": True, "worse": True,
    }  # fmt: skip
    assert ["softmix" in line for line in json.loads((folder / "r.json").read_text())["unusable"]] == [True, False]


@pytest.mark.slow
def test_minimize_and_replay_go_by_the_files_that_are_well(folder: Path) -> None:
    (folder / "bad.cu").write_text(MINE.replace('"softmax"', '"softmix"', 1))
    (folder / "worse.cu").write_text(MINE.replace("x[col]", "z[col]"))
    assert kfuzz("minimize", str(keep_case(folder)), "--max-time", "2s").exit_code == 0
    shutil.copy(keep_case(folder), folder / "again.json")
    (folder / "mine.cu").write_text(FIXED)
    done = kfuzz("replay", "tests", "again.json")
    assert done.exit_code == 2
    assert done.stderr.count("softmix") == 1
    assert done.stdout.count("worse  (as above)") == done.stdout.count("  worse  (") - 1 == 2
    assert "3 fixed, 3 cannot run" in done.stdout


@pytest.mark.slow
def test_a_kernel_that_this_device_cannot_run_is_skipped(folder: Path) -> None:
    (folder / "mine.cu").write_text(FIXED)
    (folder / "ptx.cu").write_text(FIXED.replace("const float value", 'asm("tld4;");\n        const float value'))
    done = kfuzz("fuzz", ".", "--max-cases", "9", "--jobs", "1", "--junit", "j.xml")
    assert done.exit_code == 0
    assert "the cpu device does not have the PTX instruction tld4" in done.stderr
    skipped = cases(folder / "j.xml")["ptx"].find("skipped")
    assert skipped is not None
    assert "tld4" in str(skipped.get("message"))
    assert kfuzz("fuzz", "ptx.cu", "--max-cases", "9").exit_code == 2  # then nothing was tested at all


def test_a_kernel_of_which_nothing_was_judged_is_not_green(folder: Path) -> None:
    huge = FIXED.replace("arrays = {", 'arrays = { huge = "f32[1000000000]",')
    huge = huge.replace('"rows", "cols"]', '"rows", "cols", "huge"]').replace("int cols) {", "int cols, float *huge) {")
    (folder / "huge.cu").write_text(huge)
    (folder / "mine.cu").write_text(FIXED)
    for targets in (("huge.cu",), ("huge.cu", "mine.cu")):
        done = kfuzz("fuzz", *targets, "--max-cases", "6", "--jobs", "1", "--junit", "j.xml")
        assert done.exit_code == 2
        assert "huge: no answer of its " in done.stderr
        assert "too large for the cpu device" in done.stderr
        error = cases(folder / "j.xml")["huge"].find("error")
        assert error is not None
        assert error.get("type") == "not judged"


@pytest.mark.slow
def test_a_document_on_standard_output_is_alone_there(folder: Path) -> None:
    asked = ("fuzz", "mine.cu", "--max-cases", "30", "--seed", "1", "--jobs", "1")
    done = kfuzz(*asked, "--json", "-")
    assert json.loads(done.stdout)["exit_code"] == done.exit_code == 1
    assert "BROKEN  mine: special" in done.stderr
    assert ET.fromstring(kfuzz(*asked, "--junit", "-").stdout.encode()).tag == "testsuites"  # noqa: S314  our own
    twice = kfuzz(*asked, "--json", "-", "--junit", "-")
    assert (twice.exit_code, "only one report can go to standard output (-)" in twice.stderr) == (2, True)
    assert not (folder / "-").exists()


def test_the_name_of_a_bundled_folder_means_its_kernels(folder: Path) -> None:
    assert find_files("softmax") == find_files("softmax/") == find_files("softmax/*")
    assert len(find_files("softmax")) > 9
    (folder / "softmax").mkdir()
    (folder / "softmax" / "own.cu").write_text(MINE)
    assert find_files("softmax") == (Path("softmax/own.cu"),)  # what lies here comes first


def test_an_option_without_effect_here_is_reported(folder: Path) -> None:
    (folder / "mine.cu").write_text(FIXED)
    done = kfuzz("fuzz", "mine.cu", "--max-cases", "3", "--jobs", "1", "--sanitize")
    assert done.exit_code == 0
    assert "--sanitize has no effect on the cpu device" in done.stderr


@pytest.mark.slow
def test_two_kernels_of_one_stem_are_named_by_their_folders(folder: Path) -> None:
    for place in ("one", "other"):
        (folder / place).mkdir()
        (folder / place / "twin.cu").write_text(FIXED)
    done = kfuzz("fuzz", "one", "other/twin.cu", "mine.cu", "--max-cases", "9", "--jobs", "1")
    rows = [line.split() for line in done.stdout.splitlines()]
    names = [words[0] for words in rows if len(words) > 3 and all(map(str.isdigit, words[1:3]))]
    assert sorted(names) == ["mine", "one/twin", "other/twin"]


def test_a_kernel_that_does_not_compile_is_exit_code_2_with_the_compilers_words(folder: Path) -> None:
    (folder / "mine.cu").write_text(MINE.replace("float max = -INFINITY", "float max = INFINITI"))
    done = kfuzz("fuzz", "mine.cu", "--max-cases", "9", "--jobs", "1")
    assert done.exit_code == 2
    assert "INFINITI" in done.stderr
    assert "mine.cu:" in done.stderr
    assert "cannot run" in done.stdout


def test_a_finding_that_cannot_be_kept_is_still_reported(folder: Path) -> None:
    (folder / "tests" / "corpus").mkdir(parents=True)
    (folder / "tests" / "corpus" / "softmax").write_text("a file where the cases of softmax would lie")
    done = kfuzz("fuzz", "mine.cu", "--max-cases", "40", "--seed", "1", "--jobs", "1")
    assert done.exit_code == 2
    assert "BROKEN  mine: special, -inf minus -inf" in done.stdout
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.soak) for one in (signal.SIGINT, signal.SIGHUP))]
)
def test_an_end_from_outside_is_130_and_keeps_what_was_found(folder: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "kfuzz", "fuzz", "mine.cu", "--device", "cpu"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "--jobs", "1", "--json", "r.json"], env=environment, stdout=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "error: mine" in line:
                break
        process.send_signal(number)
        rest = process.stdout.read()
    assert process.returncode == 130
    assert "BROKEN  mine" in rest
    assert "interrupted" in rest
    assert json.loads((folder / "r.json").read_text())["stop_reason"] == "interrupted"
    assert list((folder / "tests" / "corpus" / "softmax").glob("special-*.json"))


def test_minimize_leaves_one_smaller_case_and_a_script(folder: Path) -> None:
    x = np.tile(np.array([-np.inf, -np.inf, 1.5, 2.25, 0.1], np.float32), (6, 1))
    path = keep_case(folder, case_of("softmax", {"x": x}), name="mine-special-inf-minus-inf-00000000.json")
    done = kfuzz("minimize", str(path))
    assert done.exit_code == 0, done.output
    assert "rows=6 cols=5 threads=32 -> rows=1 cols=2 threads=1" in done.stdout
    assert "always: 10 of 10 times" in done.stdout
    (left,) = path.parent.glob("*.json")
    record = case_file.read(left)
    assert str(record.case) == "softmax rows=1 cols=2; x: -inf, 0"
    assert record.origin is not None
    assert record.origin.minimized
    (script,) = folder.glob("repro-*.py")
    assert "special, -inf minus -inf" in script.read_text()


def test_minimize_says_so_where_there_is_nothing_to_do(folder: Path) -> None:
    path = keep_case(folder)
    (folder / "mine.cu").write_text(FIXED)
    done = kfuzz("minimize", str(path))
    assert (done.exit_code, "mine gives a right answer in every run" in done.stderr) == (2, True)
    (folder / "mine.cu").unlink()
    done = kfuzz("minimize", str(path))
    assert (done.exit_code, "no kernel named mine is found here: give its file with --kernel" in done.stderr) == (
        2,
        True,
    )


def test_minimize_for_another_kernel(folder: Path) -> None:
    path = keep_case(folder, kernel="softmax/online_thread")
    done = kfuzz("minimize", str(path), "--kernel", "mine.cu")
    assert done.exit_code == 0, done.output
    assert "BROKEN  mine: special, -inf minus -inf" in done.stdout
    assert path.exists()


def test_replay_says_broken_then_fixed(folder: Path) -> None:
    keep_case(folder)
    broken = kfuzz("replay")
    assert broken.exit_code == 1, broken.output
    assert broken.stdout.startswith("broken          tests/corpus/softmax/case.json  mine\n")
    (folder / "mine.cu").write_text(FIXED)
    fixed = kfuzz("replay")
    assert (fixed.exit_code, fixed.stdout.split()[0]) == (0, "fixed")
    assert "1 case on the cpu: 1 fixed" in fixed.stdout


@pytest.mark.slow
def test_replay_tries_every_kernel_of_the_op(folder: Path) -> None:
    keep_case(folder)
    (folder / "mine.cu").write_text(FIXED)
    (folder / "other.cu").write_text(FIXED)
    assert [line.split()[::2] for line in kfuzz("replay").stdout.splitlines()[:2]] == [
        ["fixed", "mine"],
        ["kept", "other"],
    ]
    chosen = kfuzz("replay", "--kernel", "softmax/online_*", "tests/corpus/softmax/case.json")
    assert chosen.exit_code == 0, chosen.output
    assert chosen.stdout.count("kept ") >= 5


@pytest.mark.slow
def test_a_huge_case_reports_its_progress(folder: Path) -> None:
    huge = case_of("row_max", {"x": np.zeros((1 << 14, (1 << 8) + 1), np.float32)})
    path = keep_case(folder, huge, "reduce/warp_max_xor", "huge.json")
    reported = kfuzz("replay", "--kernel", "reduce/warp_max_xor", str(path)).stdout.splitlines()
    assert [line.split()[0] for line in reported] == ["running", "fixed", "1"]
    assert f"{(1 << 14) * 257} elements" in reported[0]
    doing: list[str] = []
    with CpuDevice() as device:
        replay(case_file.read(path), load(KERNELS / "reduce/warp_max_xor.cu"), device, tell=doing.append)
    assert doing[0] == "running on the cpu"
    assert len(doing) > 30
    assert doing[-1] == "judged 100%"


def test_a_damaged_case_does_not_keep_the_others_from_running(folder: Path) -> None:
    path = keep_case(folder)
    (folder / "mine.cu").write_text(FIXED)
    damaged = path.with_name("damaged.json")
    damaged.write_bytes(path.read_bytes()[:100])
    before = damaged.read_bytes()
    done = kfuzz("replay")
    assert done.exit_code == 2
    assert "damaged.json: not JSON (truncated?)" in done.stderr
    assert "fixed" in done.stdout
    assert damaged.read_bytes() == before


def test_a_case_without_a_kernel_is_reported(folder: Path) -> None:
    keep_case(folder, kernel="gone", case=case_of("transpose", {"x": np.zeros((2, 2), np.float32)}))
    done = kfuzz("replay")
    assert done.exit_code == 2
    assert "not claimed" in done.stdout
    assert "no kernel here computes transpose, and gone is not found; name one with --kernel" in done.stdout


def test_show_says_what_is_in_a_case(folder: Path) -> None:
    done = kfuzz("show", str(keep_case(folder)))
    assert done.exit_code == 0
    for words in ("softmax rows=1 cols=2", "bucket     mine: special", "threads=32", "[0, 0] -inf (0xff800000)"):
        assert words in done.stdout


def test_a_folder_means_its_kernels_and_no_other_file(folder: Path) -> None:
    (folder / "helpers.cu").write_text("__global__ void nobodys() {}\n")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "theirs.cu").write_text(MINE)
    done = kfuzz("fuzz", ".", "--max-cases", "2", "--jobs", "1")
    assert "fuzzing mine on the cpu" in done.stdout


def test_a_strangers_text_has_no_power_over_the_terminal(folder: Path) -> None:
    path = keep_case(folder, kernel="\x1b[2Jgone")
    for done in (
        kfuzz("show", str(path)),
        kfuzz("minimize", str(path)),
        kfuzz("replay", "--kernel", "transpose/naive"),
    ):
        assert "\x1b" not in done.output


@pytest.mark.parametrize("command", ["fuzz", "minimize", "replay"])
def test_help_teaches_with_exit_codes(command: str) -> None:
    done = CliRunner().invoke(main, [command, "--help"])
    assert done.exit_code == 0
    assert "Exit code: 0" in done.stdout
    assert f"kfuzz {command}" in done.stdout or command == "replay"

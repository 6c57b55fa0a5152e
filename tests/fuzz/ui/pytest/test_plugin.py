"""The pytest plugin, run as a user runs it: in a folder of its own, in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from forked import run_forked
from paths import ROOT
from wrong_twins import without_confession

from kfuzz.cases import case_file
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.claims.kernel import KERNELS
from kfuzz.ui.pytest.items import gpu_for
from kfuzz.ui.pytest.plugin import WINDOW, is_case

pytestmark = pytest.mark.slow

MINE = without_confession(KERNELS / "broken" / "leading_neg_inf.cu")
FIXED = MINE.replace(
    "const float value = x[col];", "const float value = x[col];\n        if (value == -INFINITY) continue;"
)


def project(folder: Path, source: str = MINE) -> Path:
    """A folder with a kernel, and a case that breaks it."""
    (folder / "mine.cu").write_text(source)
    case = case_of("softmax", {"x": np.array([[-np.inf, 0.0]], np.float32)})
    origin = Origin("mine", "mine: special, -inf minus -inf", "special", "y is NaN", "cpu", {"threads": 32})
    place = folder / "tests" / "corpus" / "softmax"
    place.mkdir(parents=True)
    case_file.write(place / "mine-special.json", Record(case, origin))
    return place / "mine-special.json"


def run(folder: Path, *arguments: str, is_forked: bool = True) -> subprocess.CompletedProcess[str]:
    """pytest with our plugin, whether kfuzz is installed or not."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "NO_COLOR": "1"}
    plugins = ("-p", "kfuzz.ui.pytest.plugin", "-p", "xdist", "-p", "no:cacheprovider")
    if "--lf" in arguments or "--cache-clear" in arguments:
        plugins = plugins[:-2]
    words = [*plugins, "--kfuzz-device", "cpu", *arguments]
    if is_forked and "-n" not in arguments:
        return run_forked("pytest", *words, cwd=folder, environment=environment)
    command = [sys.executable, "-m", "pytest", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=1800
    )


def ids(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if "::" in line and " " not in line]


def test_a_kept_case_fails_until_the_kernel_is_right(tmp_path: Path) -> None:
    project(tmp_path)
    broken = run(tmp_path, is_forked=False)
    assert broken.returncode == 1
    assert "BROKEN  mine: special, -inf minus -inf" in broken.stdout
    assert "kfuzz replay tests/corpus/softmax/mine-special.json" in broken.stdout
    assert "Traceback" not in broken.stdout
    (tmp_path / "mine.cu").write_text(FIXED)
    fixed = run(tmp_path)
    assert (fixed.returncode, "2 passed" in fixed.stdout) == (0, True), fixed.stdout


def test_the_id_says_which_case_and_which_kernel(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "other.cu").write_text(FIXED)
    done = run(tmp_path, "--collect-only", "-q")
    case = "tests/corpus/softmax/mine-special.json"
    assert ids(done) == ["mine.cu::claim", "other.cu::claim", f"{case}::mine", f"{case}::other"]
    alone = run(tmp_path, f"{case}::other")
    assert (alone.returncode, "1 passed" in alone.stdout) == (0, True)


def test_fuzzing_is_one_item_for_each_kernel_and_finds_the_bug(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(MINE)
    (tmp_path / "right.cu").write_text(FIXED)
    (tmp_path / "plain.cu").write_text("__global__ void nobodys() {}\n")
    listed = run(tmp_path, "--kfuzz", "--collect-only", "-q")
    assert ids(listed) == ["mine.cu::claim", "mine.cu::fuzz", "right.cu::claim", "right.cu::fuzz"]
    done = run(tmp_path, "--kfuzz", "--kfuzz-cases", "40", "--kfuzz-seed", "1", "--junitxml", "junit.xml")
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout
    assert "BROKEN  mine: special, -inf minus -inf" in done.stdout
    assert list((tmp_path / "tests" / "corpus" / "softmax").glob("special-*.json"))
    tree = ET.parse(tmp_path / "junit.xml")  # noqa: S314  our own file
    assert {case.get("classname") for case in tree.iter("testcase")} == {"mine.cu", "right.cu"}


def test_a_warning_fails_where_the_settings_say_so(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(without_confession(KERNELS / "broken" / "all_threads_write.cu"))
    words = ("--kfuzz", "--kfuzz-cases", "12", "--kfuzz-seed", "1")
    assert run(tmp_path, *words).returncode == 0
    (tmp_path / "kfuzz.toml").write_text('fail-on = "warning"\n')
    done = run(tmp_path, *words)
    assert (done.returncode, "WARNING  mine: race" in done.stdout) == (1, True), done.stdout
    assert run(tmp_path, "--kfuzz-fail-on", "error").returncode == 0
    assert run(tmp_path).returncode == 1  # the case that was kept


def test_workers_share_the_items_and_a_seed_that_is_drawn_once_and_shown(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "other.cu").write_text(FIXED)
    done = run(tmp_path, "--kfuzz", "--kfuzz-cases", "2", "-n", "2", "--junitxml", "junit.xml")
    assert done.returncode == 1
    assert re.search(
        r"[12] failed, [45] passed", done.stdout
    )  # the case on mine, and perhaps the search for two trials
    reported = re.search(r"--kfuzz-seed (\d+)", done.stdout)
    assert reported is not None
    tree = ET.parse(tmp_path / "junit.xml")  # noqa: S314  our own file
    assert {one.get("value") for one in tree.iter("property") if one.get("name") == "kfuzz_seed"} == {reported[1]}


@pytest.mark.soak
def test_two_kernels_of_one_name_are_named_by_their_folders(tmp_path: Path) -> None:
    """The cases of one would take the place of the other's."""
    for place in (tmp_path / "one", tmp_path / "other"):
        place.mkdir()
        (place / "mine.cu").write_text(MINE)
    done = run(tmp_path, "--kfuzz", "--kfuzz-time", "8s", "--kfuzz-seed", "1")
    assert "BROKEN  one/mine: special, -inf minus -inf" in done.stdout
    assert "BROKEN  other/mine: special, -inf minus -inf" in done.stdout
    folder = tmp_path / "tests" / "corpus" / "softmax"
    origins = [case_file.read(path).origin for path in folder.glob("special-*.json")]
    assert {one.kernel for one in origins if one} == {"one/mine", "other/mine"}


def test_without_being_asked_it_only_reads_and_compiles(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(MINE)
    done = run(tmp_path, "-v")
    assert (done.returncode, "mine.cu::claim PASSED" in done.stdout, "1 passed" in done.stdout) == (0, True, True)


SOURCES = {
    "claim": MINE.replace('op     = "softmax"', 'op     = "softmix"'),
    "compile": MINE.replace("x[col]", "z[col]", 1),
}
WORDS = {"claim": "softmix", "compile": "'z' was not declared"}


@pytest.mark.parametrize("what", ["claim", pytest.param("compile", marks=pytest.mark.soak)])
def test_an_unusable_file_is_reported_once_and_the_rest_goes_on(tmp_path: Path, what: str) -> None:
    """One unknown op made every case an error, 17 times the same."""
    case = project(tmp_path)
    shutil.copy(case, case.with_name("again.json"))
    (tmp_path / "bad.cu").write_text(SOURCES[what])
    done = run(tmp_path, "--tb=short", "-rN")  # a summary holds one line of it here, and all where CI is set
    assert done.returncode == 1
    assert "2 failed" not in done.stdout
    assert "3 failed, 1 passed" in done.stdout  # two cases on mine, the claim of bad; the claim of mine is well
    assert done.stdout.count(WORDS[what]) == 1
    part = run(tmp_path, "tests")
    assert "3 failed" in part.stdout if what == "claim" else "4 failed" in part.stdout
    assert WORDS[what] in part.stdout


def test_a_file_of_other_tests_alone_reads_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "bad.cu").write_text(SOURCES["claim"])
    (tmp_path / "pytest.ini").write_text("[pytest]\nkfuzz_kernels = *.cu\n")
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    assert ids(run(tmp_path, "--collect-only", "-q", "test_own.py")) == ["test_own.py::test_own"]
    assert ids(run(tmp_path, "--collect-only", "-q")) == ["test_own.py::test_own", "bad.cu::claim"]


def test_a_kernel_that_this_device_cannot_run_is_skipped_with_the_reason(tmp_path: Path) -> None:
    project(tmp_path, FIXED.replace("const float value", 'asm("tld4;");\n        const float value'))
    for more in ((), ("--kfuzz", "--kfuzz-cases", "3")):
        done = run(tmp_path, "-rs", *more)
        assert done.returncode == 0
        assert f"{2 + bool(more)} skipped" in done.stdout
        assert "the cpu device does not have the PTX instruction tld4" in done.stdout


def test_a_kernel_of_which_nothing_was_judged_is_no_passing_test(tmp_path: Path) -> None:
    huge = FIXED.replace("arrays = {", 'arrays = { huge = "f32[1000000000]",')
    huge = huge.replace('"rows", "cols"]', '"rows", "cols", "huge"]').replace("int cols) {", "int cols, float *huge) {")
    (tmp_path / "mine.cu").write_text(huge)
    done = run(tmp_path, "--kfuzz", "--kfuzz-cases", "3")
    assert done.returncode == 1
    assert "too large for the cpu device" in done.stdout


def test_the_last_failures_are_run_again_alone(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "right.cu").write_text(FIXED)
    assert "1 failed, 3 passed" in run(tmp_path, "--cache-clear").stdout
    again = run(tmp_path, "--lf")
    assert "1 failed" in again.stdout
    assert "passed" not in again.stdout.splitlines()[-1]


@pytest.mark.soak
def test_the_setting_names_the_kernels(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "own.cu").write_text(FIXED)
    (tmp_path / "pytest.ini").write_text("[pytest]\nkfuzz_kernels =\n    src/*.cu\n")
    assert [one.rpartition("::")[2] for one in ids(run(tmp_path, "--collect-only", "-q"))] == ["own", "claim"]
    (tmp_path / "pytest.ini").write_text("[pytest]\nkfuzz_kernels = nowhere/*.cu\n")
    assert "kfuzz_kernels: 'nowhere/*.cu' matches no file" in run(tmp_path).stdout
    for folder in ("**/src", ".", "./", "/", "..", str(tmp_path)):
        (tmp_path / "pytest.ini").write_text(f"[pytest]\nkfuzz_kernels = {folder}\n")
        assert f"kfuzz_kernels: '{folder}' matches no file" in run(tmp_path).stdout


def test_a_case_that_no_kernel_claims_is_skipped_with_the_reason(tmp_path: Path) -> None:
    case = case_of("transpose", {"x": np.zeros((2, 2), np.float32)})
    (tmp_path / "mine.cu").write_text(MINE)
    case_file.write(tmp_path / "case.json", Record(case))
    done = run(tmp_path, "-rs")
    assert done.returncode == 0
    assert "no kernel here is for transpose" in done.stdout


def test_other_json_is_none_of_ours(tmp_path: Path) -> None:
    for name, text in {"a": "{}", "b": "not json", "c": "", "d": '{"schema": "other/1"}'}.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "e.json").write_bytes(b"\xff\xfe\x00")
    assert run(tmp_path).returncode == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"bits": [', '"bits": [[', "not JSON (truncated?)"),
        ("kfuzz-case/1", "kfuzz-case/9", "this version reads 'kfuzz-case/1'"),
        ("ff800000", "f80000", "the 8 hex digits of a float32 are expected"),
    ],
)
def test_a_damaged_case_is_one_clear_error(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = project(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    done = run(tmp_path)
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert words in done.stdout
    assert "Traceback" not in done.stdout


def test_a_kernel_that_does_not_compile_fails_with_the_compilers_words(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(MINE.replace("float max = -INFINITY", "float max = INFINITI"))
    done = run(tmp_path, "--kfuzz", "--kfuzz-cases", "3")
    assert done.returncode == 1
    assert "INFINITI" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_wrong_time_or_setting_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(MINE)
    done = run(tmp_path, "--kfuzz", "--kfuzz-time", "soon")
    assert (done.returncode, "is not a time" in done.stderr) == (pytest.ExitCode.USAGE_ERROR, True)
    (tmp_path / "pytest.ini").write_text("[pytest]\nkfuzz_kernels = nowhere/*.cu\n")
    done = run(tmp_path)
    assert (done.returncode, "matches no file" in done.stderr) == (pytest.ExitCode.USAGE_ERROR, True)
    (tmp_path / "pytest.ini").unlink()
    (tmp_path / "kfuzz.toml").write_text('call-time = "later"\n')
    done = run(tmp_path)
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "the settings of kfuzz: 'later' is not a time" in done.stdout


@pytest.mark.soak
def test_the_limits_of_kfuzz_settings_hold_for_kept_cases(tmp_path: Path) -> None:
    """A slow function whose limit the settings raise would hang here, and one that hangs would take 40 s."""
    (tmp_path / "mine.py").write_text('# /// kernel\n# op = "softmax"\n# ///\ndef f(x):\n    while True: pass\n')
    place = tmp_path / "tests" / "corpus" / "softmax"
    place.mkdir(parents=True)
    case_file.write(place / "one.json", Record(case_of("softmax", {"x": np.array([[1.0, 0.0]], np.float32)})))
    (tmp_path / "kfuzz.toml").write_text('call-time = "1.5s"\n')
    done = run(tmp_path)
    assert "did not return within 1.5 s" in done.stdout, done.stdout


def test_the_schema_is_found_wherever_sorting_puts_it(tmp_path: Path) -> None:
    path = project(tmp_path)
    assert is_case(path)
    document = json.loads(path.read_text())
    document["arrays"]["x"]["show"] = "y" * 2 * WINDOW
    path.write_text(json.dumps(document, sort_keys=True))
    assert is_case(path)
    assert not is_case(tmp_path / "missing.json")


def test_the_plugin_costs_nothing_until_it_is_needed() -> None:
    script = "import sys, kfuzz.ui.pytest.plugin; print(*sorted({n.split('.')[0] for n in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "kfuzz" in done.stdout
    assert not {"numpy", "hypothesis", "click", "rich", "flint", "mpmath"} & set(done.stdout.split())


def test_each_worker_has_a_gpu_of_the_callers() -> None:
    assert [gpu_for(f"gw{number}", "2,5") for number in range(3)] == ["2", "5", "2"]
    assert gpu_for("gw1", "GPU-aa,GPU-bb") == "GPU-bb"


def test_a_run_that_is_to_fuzz_and_has_no_claim_says_that_it_tested_nothing(tmp_path: Path) -> None:
    """`1 passed` with --kfuzz was all that it said of a project whose kernel had no claim."""
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    assert "nothing was fuzzed: no kernel with a claim is below ." in run(tmp_path, "--kfuzz").stdout
    (tmp_path / "mine.cu").write_text(FIXED.partition("// ///\n")[2])
    done = run(tmp_path, "--kfuzz")
    assert (
        "NOT TESTED, without a claim: mine.cu (kfuzz claim FILE finds one; kfuzz init does it for all)" in done.stdout
    )
    assert done.returncode == 0
    (tmp_path / "mine.cu").write_text(FIXED)
    assert "NOT TESTED" not in run(tmp_path, "--kfuzz", "--kfuzz-cases", "2").stdout
    assert "= kfuzz =" not in run(tmp_path).stdout


def test_the_summary_says_what_was_not_judged_and_how_accurate_the_rest_is(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(FIXED.replace('nan        = "row"\n', ""))
    done = run(tmp_path, "--kfuzz", "--kfuzz-cases", "12", "--kfuzz-seed", "1")
    assert done.returncode == 0, done.stdout
    summary = done.stdout.partition("= kfuzz =")[2]
    assert re.search(
        r"mine: accuracy: no error is more than [\d.e+]+ ulp, or [\d.]+ % of what the claim allows", summary
    ), done.stdout

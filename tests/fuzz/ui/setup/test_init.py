"""`kfuzz init`: what it finds, what it writes, and that it never changes a person's files."""

import os
import re
import subprocess
import sys
import tomllib
from itertools import islice
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.commands.group import main
from kfuzz.ui.setup.ci_file import PLACES, ci_text
from kfuzz.ui.setup.claims import put_claim, with_claim
from kfuzz.ui.setup.first_cases import finds_bug, first_cases, keep_case, sample_mutants
from kfuzz.ui.setup.look import find_gpu_code
from kfuzz.ui.setup.settings import corpus_for, find_additions, with_settings

GOOD = KERNELS / "reduce" / "warp_sum_down.cu"
SOFTMAX = KERNELS / "softmax" / "online_block.cu"
BARE = re.sub(r"// /// kernel\n.*?// ///\n", "", GOOD.read_text(), flags=re.DOTALL)
ADDED = find_additions([Path("csrc/a/one.cu"), Path("csrc/two.cu"), Path("more/three.cu")], "tests/corpus")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one kernel that has its claim."""
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "good.cu").write_text(GOOD.read_text())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(answers: str = "", *words: str) -> Result:
    return CliRunner().invoke(main, ["init", *words], input=answers)


def test_every_sort_of_gpu_code_is_recognised(tmp_path: Path) -> None:
    texts = {
        "bare.cu": BARE,
        "claimed.cu": GOOD.read_text(),
        "extension.cu": f"#include <torch/extension.h>\n{BARE}",
        "only_host.cu": "int main() {}",
        "fused.py": "import triton\n@triton.jit\ndef f(x): pass\n",
        "jitted.py": "from triton import jit\n@jit\ndef f(x): pass\n",
        "inline.py": "m = load_inline(name='m', cuda_sources=text)\n",
        "plain.py": "import numba\n@jit\ndef f(x): pass\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.cu").write_bytes(b"// \xe9")
    assert {one.path.name: one.sort for one in find_gpu_code(tmp_path)} == {
        "bare.cu": "kernel",
        "claimed.cu": "claimed",
        "extension.cu": "extension",
        "only_host.cu": "no kernel",
        "fused.py": "triton",
        "jitted.py": "triton",
        "inline.py": "inline",
    }


@pytest.mark.parametrize(("mark", "end"), [(b"", b"\n"), (b"\xef\xbb\xbf", b"\n"), (b"", b"\r\n")])
def test_a_claim_goes_on_top_and_the_text_stays_to_the_byte(tmp_path: Path, mark: bytes, end: bytes) -> None:
    claim = GOOD.read_text().partition("// ///\n")[0].partition("// /// kernel\n")
    body = BARE.encode().replace(b"\n", end)
    path = tmp_path / "mine.cu"
    path.write_bytes(mark + body)
    path.chmod(0o750)
    assert put_claim(path, mark + body, f"{claim[1]}{claim[2]}// ///")
    assert path.read_bytes().startswith(mark + b"// /// kernel" + end)
    assert path.read_bytes().endswith(body)
    assert path.stat().st_mode & 0o777 == 0o750
    assert load(path).op == "row_sum"


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text("new")
    assert not put_claim(path, b"old", "// a claim")
    assert path.read_text() == "new"


@pytest.mark.parametrize("text", ["", "device = 'cpu' # ours", "corpus = 'c'\n"])
def test_settings_are_added_and_none_is_changed(text: str) -> None:
    made = with_settings(text, ADDED)
    assert made is not None
    assert tomllib.loads(made) == {"kernels": ["csrc", "more"], "corpus": "tests/corpus", **tomllib.loads(text)}
    assert made.startswith(text)
    assert with_settings(made, ADDED) == made


@pytest.mark.parametrize("text", ["[table]\nx = 1\n", "a ="])
def test_what_cannot_be_added_to_is_left_to_the_person(text: str) -> None:
    assert with_settings(text, ADDED) is None


def test_cases_are_kept_where_pytest_looks(tmp_path: Path) -> None:
    assert corpus_for(tmp_path) == "tests/corpus"
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["checks/", "more"]\n')
    assert corpus_for(tmp_path) == "checks/corpus"
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["$(rm -r x)"]\n')
    assert corpus_for(tmp_path) == "tests/corpus"


def test_settings_in_the_older_place_are_completed_by_hand(project: Path) -> None:
    text = "[tool.kfuzz]\nkernels = ['csrc']\n"
    (project / "pyproject.toml").write_text(text)
    done = started("n\nn\n")
    assert '[tool.kfuzz]: corpus = "tests/corpus"' in done.output
    assert ((project / "pyproject.toml").read_text(), (project / "kfuzz.toml").exists()) == (text, False)


def test_a_colleague_without_kfuzz_runs_pytest_as_before(project: Path) -> None:
    """A key of kfuzz in pytest's settings is an error there under --strict-config, else a warning."""
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--strict-config'\n")
    (project / "test_a.py").write_text("def test_a(): pass\n")
    assert started("y\nn\nn\n").exit_code == 0
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:kfuzz"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("service", PLACES)
def test_a_file_for_ci_is_yaml_and_its_commands_are_ours(service: str) -> None:
    text = ci_text(service, "tests/corpus")
    read = yaml.safe_load(text)
    assert not re.search(r"\$(?:install|corpus)", text)
    commands = re.findall(r"kfuzz (?:replay|fuzz)[^|\n]*(?:\n +--.*)*", str(text))
    assert len(commands) >= 2
    for command in commands:
        name, *words = command.split()[1:]
        main.commands[name].make_context(name, [word for word in words if word != "||"])
        assert name == "replay" or "--strict" in words, "a kernel without a claim is not tested"
    assert "kfuzz" in (read["jobs"] if service == "github" else read)


def test_each_step_is_asked_and_no_is_no(project: Path) -> None:
    done = started("n\nn\nn\n")
    assert (done.exit_code, "nothing was written" in done.output) == (0, True)
    assert {path.name for path in project.iterdir()} == {".git", "csrc"}


def test_settings_and_ci_are_written_once_and_what_is_there_stays(project: Path) -> None:
    (project / "pyproject.toml").write_text("[project]\nname = 'p' # mine\n")
    done = started("y\nn\ny\n")
    assert done.exit_code == 0, done.output
    assert (project / "pyproject.toml").read_text() == "[project]\nname = 'p' # mine\n"
    assert tomllib.loads((project / "kfuzz.toml").read_text()) == {"kernels": ["csrc"], "corpus": "tests/corpus"}
    assert "kfuzz replay tests/corpus" in (project / PLACES["github"]).read_text()
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    again = started("n\n")  # only first cases are still missing
    assert (again.exit_code, "nothing was written" in again.output) == (0, True)
    assert {path: path.read_bytes() for path in before} == before


def test_a_workflow_of_ones_own_is_not_overwritten(project: Path) -> None:
    path = project / PLACES["github"]
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    done = started("n\nn\n")
    assert (path.read_text(), "stays as it is" in done.output) == ("mine", True)


def test_a_kernel_that_gets_no_claim_is_below_the_settings_kernels_so_that_ci_fails(project: Path) -> None:
    (project / "more").mkdir()
    (project / "more" / "blur.cu").write_text(BARE.replace("row_sum", "blur").replace("warp_sum", "blur"))
    (project / "python").mkdir()
    (project / "python" / "fused.py").write_text("import triton\n@triton.jit\ndef f(x): pass\n")
    done = started("y\ny\nn\nn\n")
    assert "more/blur.cu: a claim; kfuzz claim --help, docs/kernel-file.md; CI fails until then" in done.output
    assert "python/fused.py: a claim; kfuzz claim python/fused.py --op OP prints one; CI fails until" in done.output
    assert tomllib.loads((project / "kfuzz.toml").read_text())["kernels"] == ["csrc", "more", "python"]


def test_without_answers_it_ends_with_2_and_says_so(project: Path) -> None:
    done = started("")
    assert (done.exit_code, "no answer; --yes" in done.output) == (2, True)
    assert not (project / "kfuzz.toml").exists()


def test_a_folder_without_kernels_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import triton\n@triton.jit\ndef f(x): pass\n")
    done = started("")
    assert (done.exit_code, "kfuzz fuzz FILE --op OP" in done.output) == (2, True)
    (tmp_path / "a.py").unlink()
    assert "no .cu file in it or below" in started("").output


@pytest.mark.slow
def test_a_first_case_finds_the_bug_that_it_was_kept_for(tmp_path: Path) -> None:
    kernel = load(GOOD)
    with CpuDevice() as device:
        found = [(mutant, case) for mutant, case in islice(first_cases(kernel, device), 2) if case is not None]
        assert found
        for _, case in found:
            path = keep_case(case, kernel, tmp_path)
            assert keep_case(case, kernel, tmp_path) == path
        assert not finds_bug(kernel, kernel, 0, device)
    assert 2 <= len({mutant.operator for mutant in sample_mutants(kernel)}) <= 12


@pytest.mark.soak
def test_from_a_bare_file_to_a_project_that_replays(tmp_path: Path) -> None:
    (tmp_path / "row_sum.cu").write_text(BARE)
    words = [sys.executable, "-m", "kfuzz"]
    done = subprocess.run([*words, "init", "--yes"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert load(tmp_path / "row_sum.cu").rounding.adds is not None
    again = subprocess.run(
        [*words, "replay"], cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ
    )
    assert (again.returncode, "kept" in again.stdout) == (0, True), again.stdout


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.soak
def test_from_nothing_to_a_red_run_with_an_annotation_on_the_line_and_a_page(tmp_path: Path) -> None:
    """The steps of the workflow that init writes, run as the service would, but for the installation."""
    project, summary = tmp_path / "project", tmp_path / "summary.md"
    (project / "csrc").mkdir(parents=True)
    path = project / "csrc" / "softmax.cu"
    path.write_text(re.sub(r"// /// kernel\n.*?// ///\n", "", SOFTMAX.read_text(), flags=re.DOTALL))
    git(project, "init", "-q", "-b", "main")
    program = Path(sys.executable).with_name("kfuzz")
    subprocess.run([program, "init", "--yes"], cwd=project, check=True, capture_output=True)
    git(project, "add", "-A")
    git(project, "commit", "-qm", "kfuzz")
    base = git(project, "rev-parse", "HEAD").strip()
    right = path.read_text()
    lost = right.index("    __syncthreads();\n", right.index("return shared[0];") - 200)
    wrong = right[:lost] + right[lost:].replace("    __syncthreads();\n", "", 1)
    path.write_text(wrong)
    git(project, "commit", "-qam", "faster")

    steps = yaml.safe_load((project / PLACES["github"]).read_text())["jobs"]["kfuzz"]["steps"]
    commands = {step["name"]: step["run"] for step in steps if "run" in step}
    assert set(commands) == {
        "Install kfuzz", "Replay the kept cases", "Fuzz what the change touches", "Fuzz everything"}  # fmt: skip
    service = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "BASE": base, "CI": "true"}
    where = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    said = {}
    for name in ("Replay the kept cases", "Fuzz what the change touches"):
        run = ["bash", "-e", "-c", commands[name].replace("--max-time 5m", "--max-time 20s")]
        both = {"cwd": project, "env": {**os.environ, **service, "PATH": where}, "capture_output": True, "text": True}
        done = subprocess.run(run, check=False, **both)  # type: ignore[call-overload]
        assert done.returncode == 1, done.stdout + done.stderr
        said[name] = done.stdout
    (line,) = [line for line in said["Fuzz what the change touches"].splitlines() if line.startswith("::error")]
    number = int(re.search(r"file=csrc/softmax.cu,line=(\d+),", line)[1])  # type: ignore[index]
    assert "shared[" in wrong.splitlines()[number - 1]
    assert "race" in line
    assert "csrc/softmax.cu" in summary.read_text()
    assert "<title>kfuzz report</title>" in (project / "kfuzz-report" / "report.html").read_text()


def test_a_claim_that_is_put_on_top_is_the_only_change() -> None:
    assert with_claim(b"x\n", "// c") == b"// c\nx\n"

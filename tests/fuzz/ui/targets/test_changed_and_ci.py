"""CI: the action's steps, kernels that a change touches, GitHub's summary, GitLab's file."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from pages import blocks
from paths import ROOT

from kfuzz.cases import corpus
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.common.errors import TargetError
from kfuzz.ui.commands.group import main
from kfuzz.ui.targets.changed import kernels_changed_since

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
GOOD = KERNELS / "reduce" / "warp_sum_down.cu"


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two kernels, one of which includes a header, at its first commit."""
    text = GOOD.read_text()
    (tmp_path / "one.cu").write_text(text)
    (tmp_path / "two.cu").write_text(f'{text}\n#include "two.cuh"\n')
    (tmp_path / "two.cuh").write_text("// nothing yet\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touched(project: Path) -> list[str]:
    kernels: list[Kernel] = [load(path) for path in sorted(project.glob("*.cu"))]
    return [kernel.name for kernel in kernels_changed_since(kernels, "HEAD")]


def test_a_kernel_is_touched_by_its_text_its_header_and_its_coming(project: Path) -> None:
    assert touched(project) == []
    (project / "two.cuh").write_text("// something\n")
    assert touched(project) == ["two"]
    (project / "one.cu").write_text((project / "one.cu").read_text() + "\n")
    (project / "three.cu").write_text(GOOD.read_text())
    assert touched(project) == ["one", "three", "two"]


def test_an_unknown_commit_is_one_line(project: Path) -> None:
    with pytest.raises(TargetError, match="--since: git merge-base") as error:
        kernels_changed_since([load(project / "one.cu")], "nowhere")
    assert "\n" not in str(error.value)


def steps() -> dict[str, dict[str, object]]:
    return {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}


def environment(step: dict[str, object], project: Path, **inputs: str) -> dict[str, str]:
    """What the service would put into a step's environment."""
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    given = {**given, "base": "HEAD", "time": "15s", "device": "cpu", **inputs}
    values = {f"inputs.{name}": value for name, value in given.items()}
    values |= {"steps.place.outputs.folder": str(project / "report"), "github.action_path": str(ROOT)}
    named = step.get("env", {})
    assert isinstance(named, dict)
    filled = {name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text) for name, text in named.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    service = {"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(project / "out"), "RUNNER_TEMP": str(project / "tmp")}
    return {**os.environ, **service, "GITHUB_STEP_SUMMARY": str(project / "summary.md"), "PATH": path, **filled}


def ran(name: str, project: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    step = steps()[name]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", str(step["run"])]
    return subprocess.run(
        command, cwd=project, env=environment(step, project, **inputs), capture_output=True, text=True, check=False
    )


@pytest.mark.soak
def test_the_action_fuzzes_what_a_change_touches_and_reports_it(project: Path) -> None:
    assert "no kernel differs" in ran("Fuzz", project).stdout
    wrong = GOOD.read_text().replace("offset /= 2", "offset /= 4")
    (project / "bad.cu").write_text(wrong)
    done = ran("Fuzz", project)
    assert done.returncode == 1, done.stderr
    assert "::error file=bad.cu" in done.stdout
    assert "one" not in {entry["name"] for entry in json.loads((project / "report/report.json").read_text())["kernels"]}
    assert {path.name for path in (project / "report").iterdir()} == {
        "report.json",
        "report.html",
        "report.sarif",
        "report.xml",
    }
    assert re.search(r"^\| bad \| (?:numeric|special)\b.*\| bad\.cu:\d+ \|", (project / "summary.md").read_text(), re.M)
    kept = ran("Replay the corpus", project)
    assert (kept.returncode, "broken" in kept.stdout) == (1, True)


def hooks() -> dict[str, str]:
    """The hooks that docs/ci.md has for pre-commit: names and commands."""
    text = (ROOT / "docs" / "ci.md").read_text()
    (block,) = (one.text for one in blocks(text, "yaml") if one.text.startswith("# .pre-commit-config.yaml"))
    return {hook["id"]: hook["entry"] for repo in yaml.safe_load(block)["repos"] for hook in repo["hooks"]}


@pytest.mark.soak
def test_the_hooks_before_a_commit_let_a_right_kernel_pass_and_stop_a_wrong_one(project: Path) -> None:
    assert set(hooks()) == {"kfuzz", "kfuzz-changed"}
    words = hooks()["kfuzz-changed"].split()[1:]
    assert CliRunner().invoke(main, [*words, "--device", "cpu"]).exit_code == 0
    (project / "one.cu").write_text(GOOD.read_text().replace("offset /= 2", "offset /= 4"))
    assert CliRunner().invoke(main, [*words, "--device", "cpu", "--jobs", "1"]).exit_code == 1
    assert CliRunner().invoke(main, [*hooks()["kfuzz"].split()[1:], "--device", "cpu"]).exit_code == 1


@pytest.mark.soak
def test_the_action_fuzzes_all_and_makes_a_corpus_smaller(project: Path) -> None:
    (project / "bad.cu").write_text(GOOD.read_text().replace("offset /= 2", "offset /= 4"))
    fuzzed = ran("Fuzz", project, mode="batch")
    assert fuzzed.returncode == 1, fuzzed.stderr
    names = {entry["name"] for entry in json.loads((project / "report/report.json").read_text())["kernels"]}
    assert names == {"one", "two", "bad"}
    kept = corpus.paths([project / ACTION["inputs"]["corpus"]["default"]])
    pruned = ran("Fuzz", project, mode="prune")
    assert pruned.returncode == 0, pruned.stderr
    last = r"(\d+) of (\d+) planted bugs are detected; (\d+) of (\d+) cases? deleted\n$"
    killed, planted, deleted, cases = map(int, re.findall(last, pruned.stdout)[0])
    assert 0 < killed <= planted
    assert cases == len(kept) > deleted
    assert sum(path.exists() for path in kept) == cases - deleted


def test_the_action_names_its_folder(project: Path) -> None:
    assert ran("Name the report's folder", project).returncode == 0
    assert (project / "out").read_text() == f"folder={project / 'tmp'}/kfuzz-report\n"


def test_every_step_of_the_action_is_run_here_or_is_the_installation() -> None:
    assert set(steps()) == {"Name the report's folder", "Install kfuzz", "Replay the corpus", "Fuzz"}
    assert all(step["shell"] == "bash" for step in steps().values())
    assert not re.search(r"run:.*\$\{\{", (ROOT / "action.yml").read_text()), "inputs reach a shell as data alone"


@pytest.mark.slow
def test_gitlab_gets_its_file(project: Path) -> None:
    command = ["fuzz", "broken/leading_neg_inf", "--device", "cpu", "--max-cases", "20", "--format", "gitlab"]
    assert CliRunner().invoke(main, command).exit_code == 1
    issues = json.loads((project / "gl-code-quality-report.json").read_text())
    assert {issue["check_name"] for issue in issues} >= {"kfuzz/special"}

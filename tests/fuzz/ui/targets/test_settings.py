"""kfuzz.toml or [tool.kfuzz]: settings hold in every folder of a project, and a mistake in them is one line."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kfuzz.common.errors import TargetError
from kfuzz.common.time_limits import TimeLimits, time_limits
from kfuzz.ui.commands.group import defaults, main
from kfuzz.ui.commands.options import time_limit_options
from kfuzz.ui.targets.settings import read_settings

KNOWN = ("max-time", "device", "seed")


def project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(f"[tool.kfuzz]\n{text}\n")
    return folder


def test_settings_hold_below_the_file_and_kernels_are_found_from_there(tmp_path: Path) -> None:
    project(tmp_path, 'kernels = ["cuda", "softmax/*"]\ndevice = "cpu"')
    (tmp_path / "cuda").mkdir()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert read_settings(below, KNOWN) == {"kernels": [str(tmp_path / "cuda"), "softmax/*"], "device": "cpu"}


@pytest.mark.parametrize("target", [".", "cuda/", "", "**/*.cu"])
def test_a_folder_is_found_by_any_of_its_names(tmp_path: Path, target: str) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "a.cu").write_text("")
    assert read_settings(project(tmp_path, f'kernels = ["{target}"]'), KNOWN) == {"kernels": [str(tmp_path / target)]}


@pytest.mark.parametrize("target", ["a**b", "/absolute", "softmax/*"])
def test_what_is_no_file_of_the_project_stays_as_it_is(tmp_path: Path, target: str) -> None:
    assert read_settings(project(tmp_path, f'kernels = ["{target}"]'), KNOWN) == {"kernels": [target]}


@pytest.mark.parametrize("shared", ["", "[project]\nname = 'p'\n"])
def test_kfuzz_toml_holds_below_its_folder_and_below_other_tools_files(tmp_path: Path, shared: str) -> None:
    (tmp_path / "kfuzz.toml").write_text('kernels = ["cuda"]\ndevice = "cpu"\n')
    below = tmp_path / "cuda"
    below.mkdir()
    if shared:
        (below / "pyproject.toml").write_text(shared)
    assert read_settings(below, KNOWN) == {"kernels": [str(below)], "device": "cpu"}


def test_settings_in_two_files_of_one_folder_are_one_line(tmp_path: Path) -> None:
    (project(tmp_path, 'device = "cpu"') / "kfuzz.toml").write_text("seed = 3\n")
    with pytest.raises(TargetError, match=r"there are settings in pyproject.toml too; move its \[tool.kfuzz\] here"):
        read_settings(tmp_path, KNOWN)


def test_a_mistake_in_kfuzz_toml_names_it(tmp_path: Path) -> None:
    (tmp_path / "kfuzz.toml").write_text("max-tim = 3\n")
    with pytest.raises(TargetError, match=r"kfuzz\.toml: max-tim: there is no such option, did you mean max-time"):
        read_settings(tmp_path, KNOWN)


def test_limits_of_time_hold_for_each_command_that_runs_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "kfuzz.toml").write_text('call-time = "2m"\ncompile-time = 30\n')
    given = defaults(tmp_path)
    for name in ("bench", "claim", "cmin", "fuzz", "minimize", "op", "replay", "score", "upstream"):
        assert given[name] == {"call_time": "2m", "compile_time": 30}
    assert given["check"] == {"compile_time": 30}

    @click.command()
    @time_limit_options
    def shows() -> None:
        click.echo(time_limits())

    done = CliRunner().invoke(shows, default_map=given["replay"])
    assert done.stdout == "TimeLimits(compile=30.0, call=120.0, until=inf)\n"
    assert time_limits() == TimeLimits()


def test_a_folder_without_a_file_has_none(tmp_path: Path) -> None:
    assert read_settings(tmp_path, KNOWN) == {}


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("max-tim = 3", "tool.kfuzz.max-tim: there is no such option, did you mean max-time?"),
        ('kernels = "cuda"', "tool.kfuzz.kernels: a list of names"),
        ("device = []", r"tool.kfuzz.device=\[\]: a string or a number is expected"),
        ("device = ", "cannot be read: Invalid value"),
    ],
)
def test_a_mistake_is_one_line_that_says_where(tmp_path: Path, text: str, reported: str) -> None:
    with pytest.raises(TargetError, match=reported) as error:
        read_settings(project(tmp_path, text), KNOWN)
    assert "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)


@pytest.mark.slow
def test_what_is_typed_goes_before_what_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, 'kernels = ["softmax/online_warp"]\nmax-cases = 3\ndevice = "cpu"\nseed = 5'))
    set_once = CliRunner().invoke(main, ["fuzz"])
    assert (set_once.exit_code, "3 trials" in set_once.output, "seed 5" in set_once.output) == (0, True, True)
    typed = CliRunner().invoke(main, ["fuzz", "reduce/block_sum", "--max-cases", "2"])
    assert (typed.exit_code, "2 trials" in typed.output, "reduce/block_sum" in typed.output) == (0, True, True)


def test_a_value_of_the_wrong_type_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path, 'max-cases = "many"'))
    result = CliRunner().invoke(main, ["fuzz", "softmax/online_warp"])
    assert (result.exit_code, "max-cases" in result.output) == (2, True)

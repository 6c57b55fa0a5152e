"""A shell completes commands, options, kernels, files, ops and kinds."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from kfuzz.ui.commands.completion import SHELLS, VARIABLE
from kfuzz.ui.commands.group import main


def completions(*words: str) -> list[tuple[str, str]]:
    """What a shell proposes for the last of these words."""
    found = BashComplete(main, {}, "kfuzz", VARIABLE).get_completions(list(words[:-1]), words[-1])
    return [(one.type, one.value) for one in found]


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (("fuzz", "softmax/online_w"), [("plain", "softmax/online_warp")]),
        (("replay", "--kernel", "softmax/online_w"), [("plain", "softmax/online_warp")]),
        (("explain", "ra"), [("plain", "race")]),
        (("fuzz", "mine.cu", "--op", "softmax_b"), [("plain", "softmax_backward")]),
        (("show", "--template", "softmax_b"), [("plain", "softmax_backward")]),
        (("fuzz", "--stop"), [("plain", "--stop-at-first")]),
        (("compl",), [("plain", "completion")]),
        (("check", "src/ma"), [("file", "src/ma")]),
        (("fuzz", "../ma"), [("file", "../ma")]),
        (("replay", "tests/co"), [("file", "tests/co")]),
    ],
)
def test_a_word_is_completed(words: tuple[str, ...], proposed: list[tuple[str, str]]) -> None:
    assert completions(*words) == proposed


def test_files_and_kernels_of_one_beginning_are_both_proposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("gemv_mine.cu", "gemv.txt"):
        (tmp_path / name).touch()
    (tmp_path / "gemvs").mkdir()
    found = [value for _, value in completions("fuzz", "gemv")]
    assert found[:2] == ["gemv_mine.cu", "gemvs/"]
    assert all(value.startswith("gemv/") for value in found[2:])
    assert len(found) > 2


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    if shutil.which(shell) is None and shell == "bash":
        pytest.skip("click asks bash for its version")
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert VARIABLE in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_a_kernel(tmp_path: Path) -> None:
    """By the script itself, as bash runs it when you press Tab."""
    tool = tmp_path / "kfuzz"
    call = "from kfuzz.ui.commands.group import main; main(prog_name='kfuzz')"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{call}" "$@"\n')
    tool.chmod(0o755)
    script = CliRunner().invoke(main, ["completion"]).stdout
    words = f"PATH={tmp_path}:$PATH; COMP_WORDS=(kfuzz fuzz softmax/online_w); COMP_CWORD=2"
    press = f'{words}; _kfuzz_completion kfuzz; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{press}"], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["softmax/online_warp"], done.stderr

"""The pages are true: sessions give the output shown, commands exist, Python runs, links lead somewhere."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import click
import pytest
from pages import anchors, blocks, commands, inline_commands, is_shown, links, pages, steps
from paths import ROOT

from kfuzz.common.errors import TargetError
from kfuzz.kinds import KINDS
from kfuzz.ui.commands.group import main
from kfuzz.ui.targets.targets import find_files
from kfuzz.ui.targets.template import template

PAGES = [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in pages()]
SELDOM = {"docs/callables.md", "docs/formulas.md", "docs/tutorial.md", "docs/pytest.md"}
"""What these show takes seconds to run; each run of the tests has README.md, and a test of pytest.md that fails."""


def those_with(language: str) -> list[object]:
    """The pages with code in a language."""
    return [
        pytest.param(*param.values, id=param.id, marks=pytest.mark.soak if param.id in SELDOM else ())
        for param in PAGES
        if blocks(param.values[0].read_text(), language)
    ]


WITH_SESSION, WITH_PYTHON = those_with("console"), those_with("python")
OTHERS = {"cd", "dask", "env", "eval", ".", "git", "sed", "cp", "ls", "ruff", "mypy", "flock"}
"""Programs that are not ours: a page may use them, and is believed."""
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "NO_COLOR": "1",
    "COLUMNS": "200",
}


class WrongError(Exception):
    """A page tells its reader to type what does not work."""


def check_command(line: str) -> None:
    """Raise WrongError unless the command line is one that works, as far as can be told without running it."""
    for part in re.split(r" \|\| | && | \| |; ", line):
        words = [word for word in shlex.split(part.partition(" > ")[0]) if not re.match(r"[A-Z_]+=", word)]
        program, arguments = words[0], words[1:]
        if program in ("python", "python3") and arguments[0] == "-m":
            program, arguments = f"-m {arguments[1]}", arguments[2:]
        if program == "kfuzz":
            check_kfuzz(arguments)
        elif program in ("pytest", "-m pytest"):
            check_options(arguments, help_of("pytest"))
        elif program == "make":
            check_target(arguments)
        elif program in ("-m kfuzz.oracle", "-m tests.oracle.selfcheck"):
            check_options(arguments, help_of(program.removeprefix("-m ")))
        elif program.startswith("-m benchmarks.") or (program == "python" and arguments[0].startswith("benchmarks/")):
            check_benchmark(program, arguments)
        elif program == "-m pip":
            check_pip(arguments)
        elif program not in OTHERS and program != "-m venv":
            raise WrongError(f"{line}: nobody checks `{program}`")


def check_kfuzz(arguments: list[str]) -> None:
    """The command is there, and takes these options and values."""
    try:
        if not arguments or arguments[0] not in main.commands:
            main.make_context("kfuzz", list(arguments))
            raise WrongError(f"kfuzz {' '.join(arguments)}: no such command")
        main.commands[arguments[0]].make_context(arguments[0], arguments[1:])
    except click.exceptions.Exit:
        return  # --help and --version
    except click.ClickException as error:
        raise WrongError(f"kfuzz {' '.join(arguments)}: {error.format_message()}") from None
    for word in arguments[1:]:
        if arguments[0] in ("fuzz", "show", "score") and re.fullmatch(r"[a-z_]+/[\w*]+", word):
            try:
                find_files(word)
            except TargetError as error:
                raise WrongError(str(error)) from None


def check_inline(line: str) -> None:
    """A command in the running text: it is there and has these options, whatever else the sentence leaves out."""
    words = line.split()
    if words[1] not in main.commands:
        raise WrongError(f"{line}: no such command")
    known = {name for option in main.commands[words[1]].params for name in option.opts} | {"--help"}
    for word in words[2 : words.index("--") if "--" in words else None]:  # behind it stand a program's own
        if word.startswith("--") and word.partition("=")[0] not in known:
            raise WrongError(f"{line}: no option {word}")


@cache
def help_of(module: str) -> str:
    run = [sys.executable, "-m", module, "--help"]
    return subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def check_options(arguments: list[str], known: str) -> None:
    for word in arguments:
        option = word.partition("=")[0]
        if word.startswith("-") and not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known):
            raise WrongError(f"no option {option}")


def check_target(arguments: list[str]) -> None:
    for word in arguments:
        if not re.search(rf"^{re.escape(word)}:", (ROOT / "Makefile").read_text(), re.MULTILINE):
            raise WrongError(f"make {word}: no such target")


def check_benchmark(program: str, arguments: list[str]) -> None:
    """The file exists and mentions the options; those of a section are its script's."""
    folder = program.removeprefix("-m ").removeprefix("benchmarks.")
    if arguments[:1] in (["measure"], ["try"], ["rows"]):
        sections = import_module(f"benchmarks.{folder}.__main__").PAGE.sections
        script = next((one.script for one in sections if one.name == arguments[1]), None)
        if script is None:
            raise WrongError(f"benchmarks.{folder}: no section {arguments[1]}")
        program = f"-m benchmarks.{folder}.{script}"
    path = ROOT / (f"{program.removeprefix('-m ').replace('.', '/')}.py" if program.startswith("-m") else arguments[0])
    path = path if path.is_file() else path.with_suffix("") / "__main__.py"
    if not path.is_file():
        raise WrongError(f"{path.relative_to(ROOT)}: no such file")
    check_options(arguments, path.read_text())


def check_pip(arguments: list[str]) -> None:
    """Never by the bare name: no index has kfuzz, and whoever takes the name there would be believed."""
    for word in arguments:
        if re.match(r"kfuzz\b(?!-[\d.]+.*\.whl)", word):
            raise WrongError(f"pip {' '.join(arguments)}: kfuzz is on no index; install from a checkout or a wheel")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for line in commands(page.read_text()):
        check_command(line)
    for line in inline_commands(page.read_text()):
        check_inline(line)


@pytest.mark.parametrize("command", [None, *main.commands])
def test_the_examples_of_a_help_work(command: str | None) -> None:
    reported = (main.commands[command] if command else main).help or ""
    lines = [line.strip() for line in reported.splitlines()]
    examples = [re.split(r"\s{2,}", line)[0] for line in lines if line.startswith("kfuzz ")]
    assert examples or command in ("list", "doctor", "show", "replay")
    for line in examples:
        check_command(line)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "kfuzz fuz mine.cu",
        "kfuzz fuzz mine.cu --max-tim 5s",
        "kfuzz fuzz mine.cu --max-time soon",
        "kfuzz fuzz softmax/onlin_block",
        "kfuzz list --into docs/kernel.md",
        "pytest --kfuzz-tim 60s",
        "python -m pytest --kfuz",
        "make sok",
        "python -m tests.oracle.selfcheck --ful",
        "python -m benchmarks.detection.reslts --out x",
        "python -m benchmarks.detection measure results --ouput x",
        "python -m benchmarks.detection try reslts",
        "pip install kfuzz",
        "python -m pip install 'kfuzz[gpu]'",
        "kfuzz list; rm -rf .",
    ],
)
def test_a_wrong_command_is_reported(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(WrongError):
        check_command(line)


def test_a_wrong_command_in_the_running_text_is_reported() -> None:
    for line in ("kfuzz fuz", "kfuzz fuzz --sanitise"):
        with pytest.raises(WrongError):
            check_inline(line)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SESSION)
def test_the_sessions_of_a_page_give_the_output_that_they_show(page: Path, tmp_path: Path) -> None:
    write_files_of(page, tmp_path)
    for block in blocks(page.read_text(), "console"):
        for command, shown in steps(block.text):
            printed = output_of(command, tmp_path)
            assert is_shown(shown, printed), f"{page.name}:{block.line}: $ {command}\n{printed}"


def write_files_of(page: Path, folder: Path) -> None:
    """Write each block of code whose first line names a file."""
    for block in (*blocks(page.read_text(), "cuda"), *blocks(page.read_text(), "python")):
        if named := re.match(r"(?://|#) (\w+\.(?:cu|py))\n", block.text):
            (folder / named[1]).write_text(block.text)


def output_of(command: str, folder: Path) -> str:
    run = ["bash", "-c", command]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(run, cwd=folder, env=ENVIRONMENT, text=True, check=False, **both).stdout  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("BROKEN  a\n...\n1 broken\n", "BROKEN  a\n  case x\n1 broken\n", True),
        ("...\nkept in 2.5 s\n", "first\nkept in 17.1 s\n", True),
        ("nothing found: 30 trials, ...\n", "nothing found: 30 trials, 7 rows\n", True),
        ("BROKEN  a\n...\n1 broken\n", "BROKEN  b\n  case x\n1 broken\n", False),
        ("BROKEN  a\n", "BROKEN  a\nmore\n", False),
        ("1 kept\n", "2 kept\n", False),
    ],
)
def test_a_session_is_compared_line_by_line_but_for_what_is_left_out(shown: str, printed: str, expected: bool) -> None:
    assert is_shown(shown, printed) is expected


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text(template("softmax"))
    write_files_of(ROOT / "README.md", tmp_path)
    for number, block in enumerate(blocks(page.read_text(), "python")):
        script = tmp_path / f"test_block_{number}.py"
        script.write_text(block.text)
        run = [sys.executable, str(script)]
        if "\ndef test_" in block.text:
            run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", script.name]
        done = subprocess.run(run, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{page.name}:{block.line}: {done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["test_mine", pytest.param("test_mine_by_hypothesis", marks=pytest.mark.soak)])
def test_the_test_that_users_copy_fails_on_a_wrong_kernel(name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "pytest.md").read_text()
    code = next(one.text for one in blocks(page, "python") if "def test_" in one.text)
    (tmp_path / "test_mine.py").write_text(code)
    kernel = template("softmax")
    assert "+= expf(" in kernel
    (tmp_path / "mine.cu").write_text(kernel.replace("+= expf(", "+= 2 * expf("))
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_mine.py::{name}"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout


def missing(page: Path, text: str) -> list[str]:
    """The links of a page within this repository that lead nowhere."""
    found = []
    for link in links(text):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        there = page.parent / path if path else page
        is_there = there.exists() and (not anchor or anchor in anchors(there.read_text()))
        if not is_there:
            found.append(link)
    return found


def written_pages() -> list[Path]:
    """The pages that a program writes or prints: measurements, kinds of findings, and the README of a part."""
    pages = [path for top in ("benchmarks", "fuzz") for path in sorted((ROOT / top).rglob("*.md"))]
    return [path for path in pages if path.parent.name != "data"]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert missing(page, page.read_text()) == []


def test_every_link_of_a_page_that_is_written_or_printed_leads_somewhere() -> None:
    """A heading of benchmarks/detection was changed, and two sections went on to name the old one."""
    assert {page: wrong for page in written_pages() if (wrong := missing(page, page.read_text()))} == {}


def test_a_link_that_leads_nowhere_is_reported() -> None:
    text = "[a](docs/nowhere.md) [b](README.md#no-such-heading) [c](README.md#install) [d](https://example.org)"
    assert missing(ROOT / "README.md", text) == ["docs/nowhere.md", "README.md#no-such-heading"]


def test_a_page_has_blocks_of_known_languages_only() -> None:
    """A block of another language would be checked by nobody."""
    known = {"sh", "console", "python", "yaml", "toml", "toml wrong", "text", "cuda", "json"}
    for page in pages():
        assert {block.language for block in blocks(page.read_text())} <= known, page


def test_every_kind_of_finding_has_the_same_sections_on_its_page() -> None:
    wanted = ["## Example", "## How kfuzz knows", "## What to do"]
    assert [one.name for one in KINDS.values() if re.findall(r"^## .*", one.page, re.MULTILINE) != wanted] == []


def test_the_pages_on_devices_lead_to_the_kinds_of_findings() -> None:
    for page, kinds in (("cpu-device.md", ["(../fuzz/kinds)"]), ("callables.md", only_reported_by("callables"))):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [one for one in kinds if one not in text] == [], page


def only_reported_by(device: str) -> list[str]:
    """Links to the kinds that no other device reports."""
    return [f"(../fuzz/kinds/{one.name}.md)" for one in KINDS.values() if one.devices == (device,)]


def paths_named(text: str) -> set[str]:
    """Files and folders of this repository that a page names in backticks."""
    found = re.findall(r"`((?:fuzz|oracle|kernels|tests|benchmarks|docs)/[\w./-]*)`", text)
    return {name for name in found if name == name.lower()}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    assert [name for name in paths_named(page.read_text()) if not (ROOT / name).exists()] == []


def test_a_file_that_is_not_there_is_seen() -> None:
    assert paths_named("see `fuzz/nowhere.py`, `oracle/ops/NAME.py`") == {"fuzz/nowhere.py"}

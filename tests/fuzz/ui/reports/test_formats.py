"""The formats of the report: each is a file, and commands offer what these files say."""

import json
import pkgutil
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import click
import pytest
from click.testing import CliRunner
from documents import finding, kernel, report

from kfuzz.cases.errors import CaseError
from kfuzz.ui.commands.documents import write_for_service
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports import formats, report_file
from kfuzz.ui.reports.format import CommandName, FileFormat, every_format, file_formats


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "run.json").write_text(json.dumps(report(kernel(findings=[finding()]))))
    return tmp_path


def kfuzz(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.output


def test_every_file_of_the_folder_is_a_format_of_its_own() -> None:
    assert len(every_format()) == len(list(pkgutil.iter_modules(formats.__path__))) >= 7
    options = [one.option for one in every_format() if isinstance(one, FileFormat)]
    assert len(set(options)) == len(options)


@pytest.mark.parametrize("command", get_args(CommandName))
def test_a_command_offers_each_of_its_formats_and_no_other(command: CommandName) -> None:
    parameters = {option for one in main.commands[command].params for option in one.opts}
    offered = {f"--{one.option}" for one in every_format() if isinstance(one, FileFormat)} & parameters
    assert offered == {f"--{one.option}" for one in file_formats(command)} != set()


def test_the_help_says_of_each_format_what_it_is() -> None:
    for one in file_formats("fuzz"):
        (parameter,) = (each for each in main.commands["fuzz"].params if f"--{one.option}" in each.opts)
        assert isinstance(parameter, click.Option)
        assert (parameter.help or "").startswith(one.help)


def test_a_report_is_made_into_other_formats_afterwards(folder: Path) -> None:
    assert kfuzz("report", "run.json", "run.json", "--junit", "j.xml", "--sarif", "s.json") == (0, "report.html\n")
    root = ET.fromstring((folder / "j.xml").read_text())  # noqa: S314  our own
    assert (len(root.findall("testsuite")), root.get("failures"), root.get("time")) == (2, "2", "3.000")
    assert [len(run["results"]) for run in json.loads((folder / "s.json").read_text())["runs"]] == [1, 1]


def test_a_file_that_cannot_be_written_is_one_line_and_exit_code_2(folder: Path) -> None:
    (folder / "file").write_text("")
    code, text = kfuzz("report", "run.json", "--sarif", "file/s.json")
    assert (code, text.count("\n")) == (2, 1)
    assert text.startswith("file/s.json: cannot be written: ")


def test_a_service_gets_its_formats_and_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = [report(kernel(findings=[finding()]))]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    for service in ("auto", "none"):
        write_for_service(service, documents, to_stderr=False)
    assert (capsys.readouterr().out, (folder / "summary.md").exists()) == ("", False)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    write_for_service("none", documents, to_stderr=False)
    assert capsys.readouterr().out == ""
    for _ in range(2):
        write_for_service("auto", documents, to_stderr=False)
    assert capsys.readouterr().out.count("::error") == 2
    assert (folder / "summary.md").read_text().count("### kfuzz") == 2
    write_for_service("gitlab", documents, to_stderr=False)
    assert len(json.loads((folder / "gl-code-quality-report.json").read_text())) == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder))
    with pytest.raises(CaseError, match="cannot be written"):
        write_for_service("auto", documents, to_stderr=False)


def test_a_report_without_a_field_names_the_field(folder: Path) -> None:
    cut = json.loads((folder / "run.json").read_text())
    del cut["kernels"][0]["findings"][0]["bucket"]
    (folder / "cut.json").write_text(json.dumps(cut))
    with pytest.raises(CaseError, match="bucket: missing"):
        report_file.read(folder / "cut.json")


def test_a_report_of_an_earlier_version_is_read_with_a_field_that_is_gone(folder: Path) -> None:
    old = json.loads((folder / "run.json").read_text())
    old["kernels"][0]["benchmark"] = {"benchmark": "KernelBench", "passed": 1, "trials": 5, "why": "an element is off"}
    (folder / "old.json").write_text(json.dumps(old))
    assert report_file.read(folder / "old.json") == old
    assert kfuzz("report", "old.json", "--junit", "j.xml")[0] == 0

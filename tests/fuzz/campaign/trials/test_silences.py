"""A comment silences one kind on one line, with its reason; it is reported, and hides no wrong answer."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from documents import kernel, report

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.claims.language.front_matter import text_of
from kfuzz.common.text.silences import Silence, SilenceError, silences_in
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.formats.github_annotations import as_annotations
from kfuzz.ui.reports.formats.github_summary import as_summary
from kfuzz.ui.reports.formats.gitlab_code_quality import as_code_quality
from kfuzz.ui.reports.formats.junit_xml import as_junit
from kfuzz.ui.reports.formats.sarif import as_sarif
from kfuzz.ui.reports.merged import merge_reports
from kfuzz.ui.reports.page import voids
from kfuzz.ui.reports.silenced import silence_texts, silenced_findings


def result_of(folder: Path, text: str, cases: int = 12) -> KernelResult:
    path = folder / "mine.cu"
    path.write_text(text)
    return run_campaign([load(path)], CpuDevice, Options(seed=1, max_cases=cases)).kernels[0]


@pytest.mark.parametrize(
    ("text", "silences"),
    [
        ("a = b;  // kfuzz: allow race: all write 1", [Silence("race", 1, "all write 1")]),
        ("// kfuzz: allow race: all write 1\na = b;", [Silence("race", 2, "all write 1")]),
        ("x = 1  # kfuzz: allow hang: it waits", [Silence("hang", 1, "it waits")]),
        ("a = b;  /* kfuzz: allow race: all write 1 */", [Silence("race", 1, "all write 1")]),
        ("// nothing to allow", []),
    ],
)
def test_a_comment_names_a_kind_a_line_and_a_reason(text: str, silences: list[Silence]) -> None:
    assert list(silences_in(text)) == silences


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("// kfuzz: allow race", "a reason is missing; write // kfuzz: allow race: WHY"),
        ("// kfuzz: allow race:", "a reason is missing"),
        ("// kfuzz: allow raze: so", "no such kind of finding; did you mean race?"),
        ("// kfuzz: allow: so", "no such kind of finding; kinds are"),
        ("// kfuzz: allow numeric: so", "a wrong answer has no line on which it could be silenced"),
    ],
)
def test_a_comment_that_is_wrong_is_one_line(comment: str, words: str) -> None:
    with pytest.raises(SilenceError, match=words.replace("?", r"\?")) as caught:
        silences_in(f"\n{comment}\n")
    assert (caught.value.line, "\n" in str(caught.value)) == (2, False)


def test_the_parts_of_a_campaign_join_what_was_silenced() -> None:
    one = {"kind": "race", "where": "mine.cu:3", "reason": "so", "count": 2}
    parts = [report(kernel(silenced=[one]), shard=f"{part}/2", seed=7) for part in (1, 2)]
    (joined,) = merge_reports(parts, ())["kernels"]
    assert joined["silenced"] == [{**one, "count": 4}]
    assert "mine: silenced: race at mine.cu:3, in 4 trials: so" in list(voids(report(joined)))


def allow(text: str, kind: str, lines: set[int]) -> str:
    """The text with a comment that silences this kind on these lines."""
    every = enumerate(text.split("\n"), 1)
    return "\n".join(f"{line}  // kfuzz: allow {kind}: as meant" if at in lines else line for at, line in every)


@pytest.mark.slow
def test_a_silenced_warning_is_reported_as_silenced_and_a_needless_comment_too(tmp_path: Path) -> None:
    text = text_of(KERNELS / "broken" / "all_threads_write.cu")
    lines = {one.defect.line for one in result_of(tmp_path, text).discoveries if one.defect.line is not None}
    assert lines
    quiet = result_of(tmp_path, allow(text, "race", lines) + "\n// kfuzz: allow hang: never\n")
    assert (quiet.bugs, quiet.discoveries) == ((), ())
    reported = list(silence_texts(silenced_findings(quiet)))
    assert reported[0].startswith("silenced: race at ")
    assert reported[0].endswith(": as meant")
    assert reported[-1].startswith("silences nothing: kfuzz: allow hang at ")


@pytest.mark.slow
def test_a_silenced_race_hides_no_wrong_answer(tmp_path: Path) -> None:
    text = text_of(KERNELS / "broken" / "missing_barrier.cu")
    loud = result_of(tmp_path, text, 16)
    every = [one.defect for one in loud.discoveries if one.defect.kind == "race" and one.defect.finding]
    lines = {one.line for one in every if one.line is not None}
    assert lines
    quiet = result_of(tmp_path, allow(text, "race", lines), 16)
    assert quiet.silenced
    assert quiet.news, "the answers are still wrong"
    assert all(one.defect.worst is not None for one in quiet.discoveries if one.is_error)


@pytest.mark.slow
def test_a_wrong_comment_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    text = text_of(KERNELS / "softmax" / "online_warp.cu")
    (tmp_path / "mine.cu").write_text(f"{text}// kfuzz: allow rac: so\n")
    words = ["fuzz", str(tmp_path / "mine.cu"), "--device", "cpu", "--jobs", "1", "--max-cases", "2"]
    done = CliRunner().invoke(main, [*words, "--corpus", str(tmp_path / "corpus")])
    assert done.exit_code == 2
    assert "no such kind of finding; did you mean race?" in done.output


def test_every_format_has_what_is_silenced_with_its_reason() -> None:
    silenced = {"kind": "race", "where": "mine.cu:3", "reason": "both write 0", "count": 2}
    idle = {**silenced, "where": "mine.cu:5", "count": 0}
    run = [report(kernel(silenced=[silenced, idle]))]
    (result,) = json.loads(as_sarif(run))["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "both write 0"}]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    (issue,) = json.loads(as_code_quality(run))
    assert (issue["severity"], issue["location"]["lines"]) == ("info", {"begin": 3})
    for text in (as_junit(run), as_annotations(run), as_summary(run), issue["description"]):
        assert "silenced: race at mine.cu:3, in 2 trials: both write 0" in text.replace("\\", "")
    assert "silences nothing: kfuzz: allow race at mine.cu:5" in as_junit(run)
    assert 'failures="0"' in as_junit(run)  # what is silenced fails nothing
    assert not json.loads(as_sarif([report(kernel())]))["runs"][0]["results"]

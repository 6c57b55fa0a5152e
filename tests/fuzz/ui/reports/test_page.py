"""The report as a page, as SARIF and for CI services: valid whatever the name of a file or a kernel."""

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from documents import finding, kernel, report

from kfuzz.kinds import KINDS
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.document import Document
from kfuzz.ui.reports.formats.github_annotations import as_annotations
from kfuzz.ui.reports.formats.github_summary import as_summary
from kfuzz.ui.reports.formats.gitlab_code_quality import as_code_quality
from kfuzz.ui.reports.formats.sarif import as_sarif
from kfuzz.ui.reports.page import as_page, voids

HOSTILE = "</script><b>\x1b[31m]]>\x00|`a`\n::error::%0A\"'<!--"


def hostile() -> Document:
    seen = finding(bucket=HOSTILE, message=HOSTILE, words=HOSTILE, file=HOSTILE, evidence=[[HOSTILE, HOSTILE]])
    return report(kernel(name=HOSTILE, path=HOSTILE, error=HOSTILE, source=HOSTILE, findings=[seen]))


def data_of(page: str) -> dict[str, list[dict[str, object]]]:
    text = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    found: dict[str, list[dict[str, object]]] = json.loads(text[1])
    return found


def test_a_page_needs_nothing_but_itself() -> None:
    page = as_page([report(kernel(findings=[finding()]))])
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_text_cannot_leave_the_pages_data() -> None:
    page = as_page([hostile()])
    assert page.count("</script>") == as_page([report(kernel())]).count("</script>")
    assert data_of(page)["findings"][0]["bucket"] == HOSTILE


def test_a_thousand_findings_fit_in_two_megabytes() -> None:
    some = [finding(bucket=f"mine: race, `{'x' * 60}` #{number}", words="y" * 200) for number in range(1000)]
    assert len(as_page([report(kernel(findings=some))]).encode()) < 2_000_000


def test_errors_come_before_warnings_and_news_before_what_is_known() -> None:
    some = [finding(bucket="a", known=True), finding(bucket="b", severity="warning"), finding(bucket="c")]
    reported = data_of(as_page([report(kernel(findings=some))]))["findings"]
    assert [(one["known"], one["severity"]) for one in reported] == [
        (False, "error"),
        (False, "warning"),
        (True, "error"),
    ]


def test_a_picture_knows_where_its_wrong_elements_lie() -> None:
    wrong = {
        "output": "y",
        "index": [1, 2],
        "got": 9.0,
        "want": 1.0,
        "lo": 0.9,
        "hi": 1.1,
        "got_bits": "",
        "want_bits": "",
    }
    picture = {"output": "y", "shape": [2, 3], "got": [1.0, 1.0, 1.0, 1.0, 1.0, 9.0], "wrong": [wrong]}
    reported = data_of(as_page([report(kernel(findings=[finding(picture=picture)]))]))["findings"][0]["picture"]
    assert reported == {"output": "y", "rows": 2, "cols": 3, "got": picture["got"], "wrong": {"5": [1.0, 0.9, 1.1]}}


def test_the_signs_of_one_bug_are_one_entry() -> None:
    one, other = finding(), finding(bucket="mine: race, x", bug=finding()["bucket"], case="b.json")
    found = data_of(as_page([report(kernel(findings=[one, other]))]))["findings"]
    assert [(each["bucket"], each["also"]) for each in found] == [
        (one["bucket"], [{"bucket": "mine: race, x", "case": "b.json"}])
    ]


def test_a_bug_whose_main_sign_is_in_no_report_is_still_on_the_page() -> None:
    found = data_of(as_page([report(kernel(findings=[finding(bug="of another part")]))]))["findings"]
    assert [each["bucket"] for each in found] == [finding()["bucket"]]


def test_sizes_are_mapped_two_axes_at_a_time() -> None:
    axis = kernel()["sizes"]["n"]
    three = kernel(sizes={"m": axis, "n": axis, "k": axis}, tried=[
        {"sizes": [1, 2, 4], "trials": 3}, {"sizes": [1, 2, 8], "trials": 4}])  # fmt: skip
    first, second = data_of(as_page([report(three)]))["kernels"][0]["maps"]  # type: ignore[misc]
    assert ([one["name"] for one in first["axes"]], first["cells"]) == (["m", "n"], [[[1, 2], 7]])
    assert ([one["name"] for one in second["axes"]], second["cells"]) == (["k"], [[[4], 3], [[8], 4]])


def test_sizes_that_were_not_reached_void_a_pass() -> None:
    ends = {"claimed": "1..9", "least": 1, "most": 9, "smallest_tried": 2, "largest_tried": 7, "home": 3}
    assert list(voids(report(kernel(sizes={"n": ends})))) == [
        "mine: sizes that were not reached: n from 1 to below 2, n beyond 7 of 9"
    ]


def test_all_that_voids_a_pass_is_listed_and_a_whole_run_has_none() -> None:
    assert list(voids(report(kernel()))) == []
    some = [
        kernel(error="no claim"),
        kernel(trials=0, rows=0),
        kernel(rows=0, unjudged="no answer was judged: too large"),
        kernel(stopped="it hangs"),
        kernel(not_judged=["NaN"]),
    ]
    reported = list(voids(report(*some, stop_reason="interrupted")))
    assert len(reported) == 6
    assert "mine: no answer was judged: too large" in reported[3]


def test_a_page_holds_the_pages_of_the_kinds_that_occur() -> None:
    kinds = json.loads(json.dumps(data_of(as_page([report(kernel(findings=[finding()]))]))["kinds"]))
    assert list(kinds) == ["race"]
    assert "## What to do" in kinds["race"]


def test_sarif_has_a_rule_a_place_and_a_fingerprint_that_survives_edits() -> None:
    run = json.loads(as_sarif([report(kernel(findings=[finding()]))]))["runs"][0]
    moved = json.loads(as_sarif([report(kernel(findings=[finding(line=30, where="mine.cu:30")]))]))["runs"][0]
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "race"
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == KINDS["race"].sentence
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("mine.cu", 3)
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 5
    assert result["partialFingerprints"] == moved["results"][0]["partialFingerprints"]
    assert result["locations"] != moved["results"][0]["locations"]


SARIF_SCHEMA = os.environ.get("KFUZZ_SARIF_SCHEMA", "")


@pytest.mark.skipif(
    not SARIF_SCHEMA, reason="KFUZZ_SARIF_SCHEMA names no schema file; npm pack @microsoft/jest-sarif has one"
)
@pytest.mark.parametrize("document", [report(), report(kernel(findings=[finding()])), hostile()])
def test_sarif_is_valid(document: Document) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(SARIF_SCHEMA).read_text())
    assert list(jsonschema.Draft4Validator(schema).iter_errors(json.loads(as_sarif([document])))) == []


def test_an_annotation_is_one_line_whatever_a_kernel_is_called() -> None:
    lines = as_annotations([hostile()]).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("::error file=") for line in lines)
    assert "::error::" not in lines[0].partition("::")[2].partition("::")[0]


def test_a_bug_that_is_seen_in_several_ways_is_reported_once_everywhere() -> None:
    one, other = finding(), finding(bucket="mine: numeric, wrong sum", bug=finding()["bucket"], kind="numeric", line=8)
    reported = report(kernel(findings=[one, other]))
    (line,) = as_annotations([reported]).splitlines()
    assert ("line=3" in line, line.endswith("seen in 2 ways")) == (True, True)
    assert [row for row in as_summary([reported]).splitlines() if "seen in 2 ways" in row and "mine.cu:3" in row] != []
    assert [issue["location"]["lines"]["begin"] for issue in json.loads(as_code_quality([reported]))] == [3]
    (result,) = json.loads(as_sarif([reported]))["runs"][0]["results"]
    assert "also: mine: numeric, wrong sum" in result["message"]["text"]


def test_a_summary_is_one_row_a_finding() -> None:
    rows = [line for line in as_summary([hostile()]).splitlines() if line.startswith("| ")]
    assert len(rows) == 2
    assert "<b>" not in rows[1]
    assert "| mine | race |" in as_summary([report(kernel(findings=[finding()]))])


def test_code_quality_names_file_line_and_fingerprint() -> None:
    (issue,) = json.loads(as_code_quality([report(kernel(findings=[finding()]))]))
    assert issue["location"] == {"path": "mine.cu", "lines": {"begin": 3}}
    assert issue["severity"] == "critical"
    assert len(issue["fingerprint"]) > 16


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


def test_a_report_becomes_a_page_and_a_damaged_one_is_one_line(tmp_path: Path) -> None:
    good, page = tmp_path / "run.json", tmp_path / "report.html"
    good.write_text(json.dumps(report(kernel(findings=[finding()]))))
    assert run("report", str(good), "-o", str(page)) == (0, f"{page}\n")
    assert data_of(page.read_text())["findings"]
    text = good.read_text()
    wrong = {"cut": text[:-20], "old": text.replace("kfuzz-report/1", "kfuzz-report/0"),
             "short": text.replace('"trials": 60, "rows": 600, "kernels"', '"kernels"'),
             "odd": text.replace('"seed": 7', '"seed": "seven"'), "list": "[1]"}  # fmt: skip
    for name, reported in wrong.items():
        assert reported != text
        bad = tmp_path / f"{name}.json"
        bad.write_text(reported)
        code, said = run("report", str(bad), "-o", str(page))
        assert (code, said.count("\n")) == (2, 1), said
        assert str(bad) in said


def test_every_kind_is_explained_and_an_unknown_one_is_a_proposal() -> None:
    code, said = run("explain")
    assert code == 0
    assert "race" in said
    for kind in KINDS:
        explained = run("explain", kind)[1]
        assert "\nWHAT TO DO\n" in explained
        assert not re.search(r"^#|\]\(|\.\./", explained, re.MULTILINE), kind
    code, said = run("explain", "raze")
    assert (code, "did you mean race?" in said) == (2, True)

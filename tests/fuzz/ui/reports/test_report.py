"""The report and its views: failure text, summary, JUnit, progress."""

import io
import json
import math
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from our_kernels import our_kernel
from rich.console import Console

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.events import Found, GaveUp, Tried
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import KernelResult, Result
from kfuzz.campaign.state import Discovery, Progress, read_state, write_state
from kfuzz.campaign.trials.defect import Defect, Scene
from kfuzz.campaign.trials.replay import Replay
from kfuzz.cases import corpus
from kfuzz.cases.case import Record, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import KERNELS
from kfuzz.common.phases import Phase, Stage, announce, listening
from kfuzz.common.printable import printable
from kfuzz.devices import Finding, Refusal, Untried
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.oracle.numbers.verdict import Extent, Pattern, Worst
from kfuzz.ui.reports import report, summary
from kfuzz.ui.reports.document import Document, FindingEntry, KernelEntry
from kfuzz.ui.reports.failure import discovery_text, extent_text, failure_text, kernel_option, replay_texts
from kfuzz.ui.reports.formats.json_text import as_json
from kfuzz.ui.reports.formats.junit_xml import as_junit
from kfuzz.ui.reports.live import Board, KernelLine, LineView, TableView, board_table, event_line, view_of
from kfuzz.ui.reports.merged import merge_reports
from kfuzz.ui.reports.phases import PhaseLines
from kfuzz.ui.reports.report import Report
from kfuzz.ui.reports.report_file import misfit
from kfuzz.ui.reports.summary import counts_text, failures, table, troubles, verdict

LEADING, RIGHT = our_kernel("broken/leading_neg_inf"), our_kernel("softmax/online_thread")
CASE = case_of("softmax", {"x": np.zeros((1, 3), np.float32)})
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


@pytest.fixture(scope="module")
def result(folder: Path) -> Result:
    options = Options(seed=3, max_cases=60, corpus=folder)
    return run_campaign([LEADING, RIGHT], CpuDevice, options)


@pytest.fixture(scope="module")
def found(result: Result) -> Report:
    return Report(result, ("kfuzz", "fuzz"), "cpu", NOON)


def with_progress(one: Report, **of_the_last: object) -> Report:
    """The report of a campaign in which the last kernel came another way."""
    first, last = one.kernels
    other = replace(last, progress=replace(last.progress, **of_the_last))  # type: ignore[arg-type]  # its fields
    return replace(one, result=replace(one.result, kernels=(first, other)))


def an_error(one: Report) -> Discovery:
    return next(each for each in one.kernels[0].discoveries if each.is_error)


def test_the_document_has_the_fields_that_its_types_promise(found: Report) -> None:
    reported = json.loads(as_json([report.document(found)]))
    assert misfit(reported, Document, "") == ""
    assert reported.keys() == Document.__annotations__.keys()
    for kernel in reported["kernels"]:
        assert kernel.keys() == KernelEntry.__annotations__.keys()
        assert all(finding.keys() == FindingEntry.__annotations__.keys() for finding in kernel["findings"])
    assert "seed" in misfit({**reported, "seed": "3"}, Document, "")
    assert (reported["seed"], reported["device"], reported["trials"], reported["exit_code"]) == (3, "cpu", 60, 1)
    assert reported["started"] == "2026-11-20T12:00:00+00:00"


def test_the_document_is_json_without_nan(found: Report) -> None:
    def no_constant(name: str) -> None:
        raise AssertionError(name)

    reported = json.loads(as_json([report.document(found)]), parse_constant=no_constant)
    assert reported["kernels"][0]["findings"][0]["worst"]["got"] == "nan"


@pytest.mark.slow
def test_a_report_is_a_baseline(found: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "old.json", as_json([report.document(found)]))
    known = corpus.read_baseline(tmp_path / "old.json")
    every = [one for kernel in found.kernels for one in kernel.discoveries]
    assert known == {said for one in every for said in (one.defect.bucket, *one.causes)}
    again = run_campaign([LEADING], CpuDevice, Options(seed=3, max_cases=30, known=known))
    reported = Report(again, (), "cpu", NOON)
    assert reported.exit_code == 0
    assert all(one.is_known for one in reported.kernels[0].discoveries)
    assert list(failures(reported)) == []
    assert "1 known" in counts_text(reported.kernels[0])
    assert "nothing new is broken" in verdict(reported)


def test_a_defect_comes_back_from_the_state_file_as_it_was(found: Report, tmp_path: Path) -> None:
    progress = found.kernels[0].progress
    write_state(tmp_path, 3, [LEADING], [progress])
    assert repr(read_state(tmp_path, 3, [LEADING])) == repr([progress])  # NaN is not equal to itself


def test_the_finding_of_a_device_comes_back_from_the_state_file_as_it_was(found: Report, tmp_path: Path) -> None:
    one = an_error(found)
    race = Finding(
        "race", "so", line=3, thread=(1, 0, 0), block=(0, 0, 0), calls=("main (line 1)",), other_thread=(2, 0, 0),
        other_block=(0, 0, 0), grid=(1, 1, 1), block_size=(32, 1, 1), multiprocessors=3,
    )  # fmt: skip
    every = {one.defect.bucket: replace(one, defect=replace(one.defect, finding=race), devices=("cpu",))}
    progress = replace(found.kernels[0].progress, discoveries=every, refusals={Refusal("no", 3), Refusal("nor that")})
    write_state(tmp_path, 3, [LEADING], [progress])
    assert repr(read_state(tmp_path, 3, [LEADING])) == repr([progress])
    (again,) = read_state(tmp_path, 3, [LEADING])
    assert vars(again.discoveries[one.defect.bucket].defect.finding) == vars(race)


def test_a_state_whose_discovery_is_damaged_is_refused(found: Report, tmp_path: Path) -> None:
    write_state(tmp_path, 3, [LEADING], [found.kernels[0].progress])
    for damage in ({"scene": "mine"}, {"scene": {"kernel": "mine"}}, {"ratio": "much"}, {"colour": "red"}):
        state = json.loads((tmp_path / "state.json").read_text())
        state["kernels"][LEADING.name]["discoveries"][0]["defect"] |= damage
        folder = tmp_path / next(iter(damage))
        folder.mkdir(exist_ok=True)
        (folder / "state.json").write_text(json.dumps(state))
        with pytest.raises(CaseError, match="not the state of a campaign"):
            read_state(folder, 3, [LEADING])


def test_a_failure_says_all_that_is_promised(found: Report) -> None:
    one = an_error(found)
    text = discovery_text(one)
    worst, extent = one.defect.worst, one.defect.extent
    assert worst is not None
    assert extent is not None
    assert one.path is not None
    for said in (
        "BROKEN  broken/leading_neg_inf: special, -inf minus -inf",
        f"y[{worst.index[0]}, {worst.index[1]}] is nan (0x{worst.got_bits})",
        f"(0x{worst.want_bits}), in [",
        f"{extent.wrong} of {extent.elements}, ",
        "leading_neg_inf.cu",
        "softmax rows=",
        "\n  launch    threads=",
        f"kfuzz replay {one.path}",
        f"kfuzz minimize {one.path}",
    ):
        assert said in text
    assert one.path.exists()
    assert max(len(line) for line in text.splitlines() if not line.startswith("  paste")) <= 300


def elsewhere(one: Discovery) -> Discovery:
    """The same finding of a kernel whose file no command finds by itself."""
    scene = replace(one.defect.scene, path="/some where/mine.cu")
    return replace(one, defect=replace(one.defect, scene=scene))


def test_every_text_of_a_failure_names_a_kernel_that_is_elsewhere(found: Report) -> None:
    """JUnit's and pytest's commands lacked it: they were wired apart from the terminal's."""
    one = elsewhere(an_error(found))
    option = "--kernel '/some where/mine.cu'"
    assert discovery_text(one).count(option) == 2
    progress = replace(found.kernels[0].progress, discoveries={one.defect.bucket: one})
    there = Report(Result(3, "max-cases", (replace(found.kernels[0], progress=progress),), 1.0), (), "cpu", NOON)
    assert as_junit([report.document(there)]).count(option) == 2
    assert "".join(failures(there)).count(option) == 2
    again = Replay(LEADING.name, "broken", 3, 3, (one.defect,), {})
    assert "".join(replay_texts(again, Record(CASE), Path("case.json"))).count(option) == 2
    assert option not in as_junit([report.document(found)])


def test_a_kernel_that_commands_find_is_not_named() -> None:
    assert kernel_option(Path("/elsewhere/mine.cu"), KERNELS) == "/elsewhere/mine.cu"
    assert kernel_option(KERNELS / "softmax" / "online_block.cu", KERNELS) == ""
    assert kernel_option(Path("mine.cu"), KERNELS) == ""


def test_a_minimized_case_is_not_to_be_minimized(found: Report) -> None:
    one = an_error(found)
    assert "kfuzz minimize" in discovery_text(one)
    assert "kfuzz minimize" not in discovery_text(replace(one, is_minimized=True))


@pytest.mark.parametrize(
    ("rows", "more", "pattern", "rank", "words"),
    [
        ([0], 0, Pattern("tail", 254, 256), 2, "3 of 257, all in row 0, cols 254..256"),
        ([4], 0, Pattern("interior", 7, 7), 2, "3 of 257, all in row 4, col 7"),
        ([4], 0, Pattern("row", 0, 256), 2, "3 of 257, all in row 4, the whole row"),
        ([1, 2], 0, Pattern("strided", 3, 255, 4), 2, "3 of 257, in 2 rows (1, 2); in the worst one every 4th from 3"),
        (
            list(range(16)),
            4,
            Pattern("head", 0, 1),
            2,
            "3 of 257, in 20 rows (0, 1, 2, 3, 4, 5, 6, 7, ...); in the worst one cols 0..1",
        ),
        ([0], 0, Pattern("head", 0, 2), 1, "3 of 257, elements 0..2"),
        ([0], 0, Pattern("row", 0, 256), 1, "3 of 257, all of them"),
    ],
)
def test_extent_in_words(rows: list[int], more: int, pattern: Pattern, rank: int, words: str) -> None:
    assert extent_text(Extent(3, 257, tuple(rows), pattern, more), rank) == words


def fake(kernel: str, progress: Progress, stop: str = "max-cases") -> Result:
    return Result(1, stop, (KernelResult(our_kernel(kernel), progress),), 1.0)  # type: ignore[arg-type]  # a stop reason


def test_exit_codes(result: Result) -> None:
    name = "softmax/online_thread"

    def exit_code_of(result: Result) -> int:
        return Report(result, (), "cpu", NOON).exit_code

    assert exit_code_of(fake(name, Progress(trials=3, rows=3, elements=9))) == 0
    assert exit_code_of(result) == 1
    assert exit_code_of(replace(result, stop_reason="interrupted")) == 130
    assert exit_code_of(fake(name, Progress())) == 2
    assert exit_code_of(fake(name, Progress(trials=3))) == 2  # run, but nothing of it was judged
    assert exit_code_of(fake(name, Progress(trials=3, rows=3, elements=9, error="mine.cu:3: expected ';'"))) == 2


@pytest.mark.parametrize(("trials", "exit_code", "tag"), [(15, 0, "skipped"), (16, 2, "error")])
def test_a_few_trials_of_which_nothing_was_judged_fail_nothing(trials: int, exit_code: int, tag: str) -> None:
    """In a minute for all kernels each has a few, and all of one's may be hostile."""
    judged, other = (
        fake("softmax/online_thread", Progress(trials=3, rows=3, elements=9)),
        Progress(trials=trials, reasons={"sums that may overflow"}),
    )
    both = replace(judged, kernels=(*judged.kernels, KernelResult(our_kernel("softmax/online_warp"), other)))
    found = Report(both, (), "cpu", NOON)
    assert found.exit_code == exit_code
    assert (f"no answer of its {trials} trials was judged" in "".join(troubles(found))) == 1
    assert ("1 kernel could not be judged" in verdict(found)) == (exit_code == 2)
    assert f"<{tag}" in as_junit([report.document(found)])


def test_a_warning_is_no_failure(result: Result) -> None:
    every = (replace(one, defect=replace(one.defect, severity="warning")) for one in result.kernels[0].discoveries)
    reported = fake(
        LEADING.name, Progress(trials=3, rows=3, elements=9, discoveries={one.defect.bucket: one for one in every})
    )
    found = Report(reported, (), "cpu", NOON)
    assert found.exit_code == 0
    assert "warning" in counts_text(found.kernels[0])
    assert verdict(found).startswith(f"nothing new is broken, {counts_text(found.kernels[0])}: 3 trials")
    assert "<failure" not in as_junit([report.document(found)])
    assert "WARNING  broken/leading_neg_inf" in as_junit([report.document(found)])


def test_a_warning_fails_a_run_that_fails_on_warnings(result: Result) -> None:
    every = (replace(one, defect=replace(one.defect, severity="warning")) for one in result.kernels[0].discoveries)
    progress = Progress(trials=3, rows=3, elements=9, discoveries={one.defect.bucket: one for one in every})
    found = Report(fake(LEADING.name, progress), (), "cpu", NOON, fail_on="warning")
    assert found.exit_code == 1
    assert "(the run fails on warnings): 3 trials" in verdict(found)
    assert "<failure" in as_junit([report.document(found)])
    assert merge_reports([report.document(found)], ())["exit_code"] == 1
    clean = Report(fake(LEADING.name, Progress(trials=3, rows=3, elements=9)), (), "cpu", NOON, fail_on="warning")
    assert clean.exit_code == 0
    known = {bucket: one.with_known(True) for bucket, one in progress.discoveries.items()}
    old = fake(LEADING.name, replace(progress, discoveries=known))
    assert Report(old, (), "cpu", NOON, fail_on="warning").exit_code == 0


def test_junit_is_xml_with_a_test_for_each_kernel(found: Report) -> None:
    hostile = with_progress(
        found, trials=0, rows=0, error="mine.cu:3: \x1b[31mexpected <';'> & \"more\"\x00\n  second line"
    )
    root = ET.fromstring(as_junit([report.document(hostile)]).encode())  # noqa: S314  our own text
    suite = root.find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "2",
        "failures": "1",
        "errors": "1",
    }
    assert [case.get("name") for case in suite.iter("testcase")] == ["leading_neg_inf", "online_thread"]
    failure = next(suite.iter("failure"))
    assert failure.get("type") == "special"
    assert "BROKEN  broken/leading_neg_inf" in str(failure.text)
    assert "expected <';'> & \"more\"\\x00" in str(next(suite.iter("error")).text)


def test_what_xml_cannot_hold_is_spelled_out() -> None:
    assert printable("a\x00b\x1bc\ud800d\te\ufffe") == "a\\x00b\\x1bc\\ud800d\te\\ufffe"


def printed(thing: object) -> str:
    stream = io.StringIO()
    Console(file=stream, width=200).print(thing)
    return stream.getvalue()


def test_the_summary_has_a_line_for_each_kernel_and_the_simplest_failure(found: Report) -> None:
    lines = printed(table(found)).splitlines()
    assert [line.split()[0] for line in lines] == ["kernel", "broken/leading_neg_inf", "softmax/online_thread"]
    blocks = list(failures(found))
    assert len(blocks) == 1
    assert blocks[0].count("BROKEN") == 1
    assert verdict(found).startswith("broken: 1 of 2 kernels")
    assert "seed 3" in verdict(found)


def test_the_verdict_does_not_call_untried_kernels_right(found: Report) -> None:
    assert "not tried" not in verdict(found)
    right = found.kernels[1]
    idle = replace(right, progress=replace(right.progress, trials=0, rows=0))
    given_up = replace(idle, progress=replace(idle.progress, retired="its claim is at fault"))
    short = replace(found.result, kernels=(right, idle), stop_reason="max-time")
    reported = verdict(replace(found, result=short))
    assert reported.startswith("nothing found")
    assert reported.endswith("; 1 of 2 kernels not tried at all: give more --max-time")
    assert "not tried" not in verdict(replace(found, result=replace(short, kernels=(right, given_up))))
    assert "not tried" not in verdict(replace(found, result=replace(short, stop_reason="interrupted")))


def test_one_of_several_kernels_reports_its_error_in_one_line(found: Report) -> None:
    several = with_progress(found, error="mine.cu:3: expected ';'\nmine.cu:1: in this function")
    assert list(troubles(several)) == ["softmax/online_thread: mine.cu:3: expected ';', and more, see --json"]
    one = replace(several, result=replace(several.result, kernels=several.kernels[1:]))
    assert list(troubles(one)) == ["softmax/online_thread: mine.cu:3: expected ';'\nmine.cu:1: in this function"]


def test_a_report_goes_where_a_link_leads_and_into_a_pipe(tmp_path: Path) -> None:
    """`--json /dev/stdout` is both, and must not put a file in its place."""
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_text("old")
    report.write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    reads, writes = os.pipe()
    (tmp_path / "pipe").symlink_to(f"/dev/fd/{writes}")
    report.write(tmp_path / "pipe", "told")
    assert os.read(reads, 100) == b"told"
    assert (tmp_path / "pipe").is_symlink()
    os.close(reads)
    os.close(writes)


def test_a_report_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CaseError, match="cannot be written"):
        report.write(tmp_path / "file" / "report.json", "{}")


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def tried(kernel: str = "a", rows: int = 5) -> Tried:
    return Tried(kernel, 0, rows, 10, 0.25, 1, {})


def board(clock: Clock, max_time: float | None = 60.0, max_cases: int | None = None) -> Board:
    return Board({"a": KernelLine(), "b": KernelLine()}, max_time, max_cases, clock)


def discovered(result: Result) -> Discovery:
    one = result.kernels[0].discoveries[0]
    scene = replace(one.defect.scene, kernel="a")
    return replace(one, defect=replace(one.defect, scene=scene, bucket="a: special, NaN"))


def test_a_warning_is_named_a_warning_once(found: Report) -> None:
    one = an_error(found)
    bucket = "mine: uninitialised (warning), `a = b;`"
    quiet = replace(one, defect=replace(one.defect, severity="warning", bucket=bucket))
    assert discovery_text(quiet).splitlines()[0] == "WARNING  mine: uninitialised, `a = b;`"
    assert event_line(Found(quiet)).startswith("warning: mine: uninitialised, `a = b;` (trial ")


def test_the_terminal_shows_no_share_of_a_bound_that_looks_like_trouble(found: Report) -> None:
    """An answer that uses all of its bound is right; `1.00 of bound` read like a finding."""
    assert "bound" not in printed(table(found))
    assert "bound" not in board(Clock()).head()


def test_without_a_terminal_progress_is_a_line_now_and_then(result: Result) -> None:
    clock, stream = Clock(), io.StringIO()
    with view_of(board(clock), Console(file=stream, width=200)) as view:
        assert isinstance(view, LineView)
        for second in range(25):
            clock.now = second
            view(tried())
        view(Found(discovered(result)))
        view(GaveUp("b", "did not end\nmore"))
    lines = stream.getvalue().splitlines()
    assert [line[:9] for line in lines] == ["[ 10.0 s]", "[ 20.0 s]", "[ 24.0 s]", "[ 24.0 s]"]
    assert lines[0].endswith("11 trials (1/s), 55 rows (6/s), 0 findings, 50 s left")
    assert "error: a: special, NaN (trial " in lines[2]
    assert lines[3].endswith("b: did not end")


def test_a_campaign_says_its_phase_from_the_first_second() -> None:
    """A minute of g++ was silent, and so was the minute in which cases are made small."""
    stream, shown = io.StringIO(), board(Clock())
    with view_of(shown, Console(file=stream, width=200)) as view:
        assert shown.phase == Phase(Stage.COMPILING, "", 0, 2)
        view(tried())
        assert str(shown.phase) == "compiling 1 of 2"
        view(GaveUp("b", "it does not compile"))
        assert str(shown.phase) == "searching"
        for number in (1, 2):
            view.show_phase(Phase(Stage.SHRINKING, "a: race", number, 2))
        view.show_phase(Phase(Stage.COMPILING, "a.cu"))
    assert [line[10:] for line in stream.getvalue().splitlines()] == [
        "b: it does not compile",
        "shrinking 1 of 2: a: race",
    ]
    assert shown.head().startswith("shrinking 2 of 2: a: race; ")


def test_a_log_has_one_line_for_each_step_and_a_few_while_it_lasts() -> None:
    stream, clock = io.StringIO(), Clock()
    say = PhaseLines(Console(file=stream, width=200), clock)
    for second in range(25):
        clock.now = second
        say(Phase(Stage.TESTING, "mine", second, 150))
    say(Phase(Stage.COMPILING, "mine.cu"))
    assert stream.getvalue().splitlines() == [
        "[  0.0 s] testing the claim 0 of 150: mine",
        "[ 10.0 s] testing the claim 10 of 150: mine",
        "[ 20.0 s] testing the claim 20 of 150: mine",
        "[ 24.0 s] compiling: mine.cu",
    ]


def test_a_phase_that_no_command_listens_to_is_nothing() -> None:
    heard: list[Phase] = []
    announce(Phase(Stage.SEARCHING))
    with listening(heard.append):
        announce(Phase(Stage.COUNTING))
    announce(Phase(Stage.SEARCHING))
    assert heard == [Phase(Stage.COUNTING)]


def test_on_a_terminal_it_is_a_table_that_goes_away(result: Result) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=120, height=20, force_terminal=True)
    shown = board(Clock())
    with view_of(shown, console) as view:
        assert isinstance(view, TableView)
        view(tried())
        view(Found(discovered(result)))
    assert "special, NaN" in stream.getvalue()
    text = printed(board_table(shown, 1))
    assert text.splitlines()[1].startswith("a ")
    assert "and 1 more" in text


def test_the_table_holds_80_columns_and_keeps_its_figures(result: Result) -> None:
    shown = board(Clock())
    shown.kernels = {name: KernelLine(123_456, 12_345_678) for name in ("softmax/online_block_shuffle", "mine")}
    shown.kernels["mine"].found = [f"race, `shared[{place}] = value;`" for place in range(12)]
    stream = io.StringIO()
    Console(file=stream, width=80).print(board_table(shown, 9))
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["kernel", "trials", "rows", "findings"]
    assert lines[1].split()[:3] == ["mine", "123456", "12345678"]
    assert "12: race, `s" in lines[1]


def wrong(worst: Worst, ratio: float | None, is_joint: bool = False) -> str:
    scene = Scene("mine", "mine.cu", "row_max rows=1", 1, {"rows": 1}, {}, False)
    defect = Defect(scene, "numeric", "error", "mine: numeric", "mine: numeric", "so", worst=worst,
                    extent=Extent(1, 1, (0,), Pattern("row")), ratio=ratio, causes=("mine: numeric",))  # fmt: skip
    defect = replace(defect, is_joint=is_joint)
    return failure_text(defect, ("again", "always"))


def test_an_error_that_its_bound_does_not_explain_says_what_does() -> None:
    exact = Worst("y", (0,), 1.0, 2.0, 2.0, 2.0, "3f800000", "40000000")
    assert "error     exact: any difference is wrong" in wrong(exact, math.inf)
    wide = replace(exact, lo=0.5, hi=2.5)
    assert "error     in its interval by itself; no right computation" in wrong(wide, None, is_joint=True)
    assert "error     just outside its interval" in wrong(wide, 1.004)
    assert "error     7 x the bound" in wrong(wide, 7.0)
    assert "x the bound" not in wrong(wide, None)


JUNIT_SCHEMA = os.environ.get("KFUZZ_JUNIT_SCHEMA", "")
HOSTILE = "</testcase>\x1b[31m]]>\x00\ud800|<!--\"'&"


@pytest.mark.skipif(
    not JUNIT_SCHEMA, reason="KFUZZ_JUNIT_SCHEMA names no schema file; Jenkins' xunit-plugin has one, junit-10.xsd"
)
def test_junit_is_valid_whatever_a_kernel_is_called(found: Report) -> None:
    schema = pytest.importorskip("xmlschema").XMLSchema(JUNIT_SCHEMA)
    for progress in ({}, {"error": HOSTILE}, {"trials": 0, "rows": 0, "elements": 0, "retired": HOSTILE}):
        one = with_progress(found, **progress)
        kernels = tuple(replace(each, kernel=replace(each.kernel, name=HOSTILE)) for each in one.kernels)
        text = as_junit([report.document(replace(one, result=replace(one.result, kernels=kernels)))])
        assert [error.reason for error in schema.iter_errors(ET.fromstring(text.encode()))] == []  # noqa: S314  our own


def test_junit_says_of_a_test_case_what_schemas_know(found: Report) -> None:
    root = ET.fromstring(as_junit([report.document(found)]).encode())  # noqa: S314  our own
    assert {name for test in root.iter("testcase") for name in test.attrib} == {"classname", "name", "time"}


@pytest.mark.parametrize(
    ("time", "cases", "words"), [(60.0, None, "60 s"), (None, 7, "7 cases"), (None, None, "Ctrl-C")]
)
def test_it_says_what_is_still_to_come(time: float | None, cases: int | None, words: str) -> None:
    assert words in board(Clock(), time, cases).left()


def test_the_report_says_how_far_up_each_axis_was_tried(found: Report) -> None:
    for each, reported in zip(found.kernels, json.loads(as_json([report.document(found)]))["kernels"], strict=True):
        assert reported["sizes"].keys() == each.kernel.axes.keys()
        for name, axis in each.kernel.axes.items():
            largest = reported["sizes"][name]["largest_tried"]
            assert axis.lo <= largest <= axis.hi
            assert reported["sizes"][name]["claimed"] == str(axis)
    one = found.kernels[0]
    assert summary.sizes_line(one).startswith(f"not tried: {one.kernel.name}: rows beyond ")
    ends = {name: axis.hi for name, axis in one.kernel.axes.items()}
    small, large = one.progress.largest, dict.fromkeys(one.kernel.axes, 5000)
    own = ": 5000x5000, the shape that it was written for; rows"
    for home, tried, words in (({}, small, ": rows"), (large, small, own), (large, large, ": rows")):
        progress = replace(one.progress, largest=tried, tried={"4096 4096": 1, **one.progress.tried})
        written = replace(one, kernel=replace(one.kernel, home=home), progress=progress)
        assert summary.sizes_line(written).startswith(f"not tried: {one.kernel.name}{words} beyond ")
    assert summary.sizes_line(replace(one, progress=replace(one.progress, largest=ends))) == ""
    assert list(summary.untried_sizes(found)) == [summary.sizes_line(each) for each in found.kernels]
    short = replace(one, progress=replace(one.progress, reasons={"sums may overflow"}, untried={Untried.DOES_NOT_FIT}))
    why = "the arrays do not fit into the GPU's free memory"
    assert summary.sizes_line(short) == f"{summary.sizes_line(one)}; some sizes near powers of two were not: {why}"
    climbed = replace(
        one, progress=replace(one.progress, rungs={"rows beyond 2^24", "rows below 2^20", "cols below 2^16"})
    )
    assert summary.sizes_line(climbed).endswith("; tried near powers of two: cols 2^16, rows 2^20 2^24")

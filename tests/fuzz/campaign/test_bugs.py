"""Bugs: one headline for one cause, whatever the seed, shown by a small case; a baseline knows them by cause."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from kfuzz.campaign.bugs import VAGUE, bugs_of, group_by_cause
from kfuzz.campaign.campaign import Lane
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result
from kfuzz.campaign.state import Discovery
from kfuzz.campaign.trials.defect import WRONG, WRONG_BEYOND, Defect, Scene, cause_of, plain_bucket
from kfuzz.campaign.trials.replay import replay
from kfuzz.cases import case_file, corpus
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.kinds import Kind
from kfuzz.oracle.numbers.verdict import Worst
from kfuzz.ui.reports.formats.json_text import as_json
from kfuzz.ui.reports.formats.junit_xml import as_junit
from kfuzz.ui.reports.report import Report, document
from kfuzz.ui.reports.summary import failures

SCENE = Scene("k", "k.cu", "row_sum rows=1", 4, {"rows": 1}, {}, False)


def discovery(bucket: str, *causes: str, diagnosis: str = "", known: bool = False, kind: Kind = "numeric") -> Discovery:
    worst = Worst("y", (0,), 1.0, 2.0, 2.0, 2.0, "3f800000", "40000000")
    full = tuple(cause_of(SCENE.kernel, cause) for cause in causes)
    defect = Defect(SCENE, kind, "error", bucket, bucket, "so", diagnosis, worst=worst, causes=full)
    return Discovery(defect, 0, 0, 1, known, None)


def test_what_has_a_cause_in_common_is_one_group_also_by_way_of_a_third() -> None:
    groups = group_by_cause(["ab", "cd", "bc", "x", "yz"], set)
    assert sorted(map(sorted, groups)) == [["ab", "bc", "cd"], ["x"], ["yz"]]


def test_the_headline_is_what_tells_most() -> None:
    vague = discovery("k: vague", WRONG, WRONG_BEYOND, diagnosis="wrong elements")
    telling = discovery("k: telling", WRONG, WRONG_BEYOND, diagnosis="dropped element")
    infinite = discovery("k: infinite", WRONG_BEYOND, diagnosis="dropped element")
    (bug,) = bugs_of([vague, infinite, telling])
    assert bug.headline.defect.bucket == "k: telling"
    assert [one.defect.bucket for one in bug.also] == ["k: vague", "k: infinite"]


def test_a_faint_error_does_not_lead_a_bug_that_also_shows_plainly() -> None:
    """A softmax whose maximum tree misses a lane was led by `exponent clamped, 0.815 x the bound`."""
    joint = discovery("k: joint", WRONG, diagnosis="exponent clamped")
    faint = discovery("k: faint", WRONG, diagnosis="fast exp")
    plain = discovery("k: plain", WRONG, diagnosis="wrong elements")
    joint = replace(joint, defect=replace(joint.defect, is_joint=True))
    faint = replace(faint, defect=replace(faint.defect, ratio=1.5))
    plain = replace(plain, first_trial=9, defect=replace(plain.defect, ratio=7e5))
    (bug,) = bugs_of([joint, faint, plain])
    assert [one.defect.bucket for one in bug.every] == ["k: plain", "k: faint", "k: joint"]


@pytest.mark.parametrize("vague", sorted(VAGUE))
def test_a_vague_diagnosis_does_not_become_the_headline(vague: str) -> None:
    early, late = discovery("k: a", WRONG, diagnosis=vague), discovery("k: b", WRONG, diagnosis="denominator x2")
    (bug,) = bugs_of([early, replace(late, first_trial=9)])
    assert bug.headline.defect.diagnosis == "denominator x2"


def test_threads_at_two_barriers_come_after_a_wrong_answer_unless_they_cause_it() -> None:
    barrier = discovery("k: barrier", "21", kind="divergent-barrier")
    wrong, wrong_by_it = discovery("k: wrong", WRONG), discovery("k: wrong by it", "21", diagnosis="wrong elements")
    assert [bug.headline for bug in bugs_of([barrier, wrong])] == [wrong, barrier]
    late = replace(wrong, first_trial=7)
    assert [bug.headline for bug in bugs_of([barrier, late, wrong_by_it])][1] == late


def test_a_bug_is_known_by_any_of_its_signs_but_not_by_infinities_alone() -> None:
    numbers, infinities = discovery("k: a", WRONG, WRONG_BEYOND), discovery("k: b", WRONG_BEYOND, known=True)
    assert not bugs_of([numbers, infinities])[0].is_known
    (bug,) = bugs_of([replace(numbers, is_known=True), replace(infinities, is_known=False)])
    assert bug.is_known
    assert all(one.is_known for one in bug.every)


def broken(name: str) -> Kernel:
    return load(KERNELS / "broken" / f"{name}.cu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corpus")


@cache
def campaign(name: str, seed: int, folder: Path, known: frozenset[str] = frozenset(), cases: int = 150) -> Result:
    options = Options(seed=seed, max_cases=cases, known=known, corpus=folder)
    return search([broken(name)], [Lane("cpu", CpuDevice)], options)


def report_of(result: Result) -> Report:
    return Report(result, (), "cpu", datetime(2026, 11, 20, tzinfo=UTC))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tail_dropped", "numeric, dropped element"),
        pytest.param("last_warp_no_syncwarp", "race, ", marks=pytest.mark.soak),
        pytest.param("missing_barrier", "race, ", marks=pytest.mark.soak),
    ],
)
def test_one_bug_has_one_headline_that_tells_most_of_it(name: str, says: str, folder: Path) -> None:
    """One missing __syncwarp gave 21 buckets, one dropped tail 6, with the least telling first."""
    (bug,) = campaign(name, 1, folder).news
    assert bug.headline.defect.bucket.startswith(f"broken/{name}: {says}")
    assert len(bug.also) >= 5
    (text,) = failures(report_of(campaign(name, 1, folder)))
    assert text.count("BROKEN") == 1
    assert text.count("  also  ") >= 5


@pytest.mark.soak
@pytest.mark.parametrize("name", ["last_warp_no_syncwarp", "tail_dropped", "leading_neg_inf", "neg_flt_max_padding"])
def test_a_baseline_holds_under_three_other_seeds(name: str, tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(as_json([document(report_of(campaign(name, 1, tmp_path)))]))
    known = corpus.read_baseline(tmp_path / "base.json")
    for seed in (2, 3, 4):
        again = report_of(campaign(name, seed, tmp_path, known))
        assert again.exit_code == 0, [bug.headline.defect.bucket for bug in again.result.news]
        assert again.kernels[0].bugs


@pytest.mark.soak
def test_a_baseline_of_one_bug_does_not_know_another(tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(as_json([document(report_of(campaign("leading_neg_inf", 1, tmp_path)))]))
    known = {one.replace("leading_neg_inf", "tail_dropped") for one in corpus.read_baseline(tmp_path / "base.json")}
    again = report_of(
        campaign("tail_dropped", 1, tmp_path, frozenset(known))
    )  # wrong for infinities is not wrong for numbers
    assert again.exit_code == 1


@pytest.mark.slow
def test_the_first_bug_is_small_and_finite_at_once(folder: Path) -> None:
    result = campaign("tail_dropped", 1, folder)
    one = result.news[0].headline
    assert one.path is not None
    record = case_file.read(one.path)
    assert record.case.elements == one.defect.scene.elements <= 32
    assert record.origin is not None
    assert record.origin.bucket == one.defect.bucket
    assert one.defect.is_finite
    entry = next(
        each
        for each in json.loads(as_json([document(report_of(result))]))["kernels"][0]["findings"]
        if each["bucket"] == each["bug"]
    )
    assert (entry["elements"], entry["case"]) == (one.defect.scene.elements, str(one.path))


@pytest.mark.slow
def test_a_warning_has_a_block_a_place_a_case_and_a_command_like_an_error(folder: Path, device: CpuDevice) -> None:
    result = campaign("all_threads_write", 1, folder, cases=40)
    report = report_of(result)
    bug = result.kernels[0].bugs[0]
    assert not bug.is_error
    assert report.exit_code == 0
    path = bug.headline.path
    assert path is not None
    text = next(failures(report))
    assert text.startswith(f"WARNING  {plain_bucket(bug.headline.defect.bucket)}")
    assert f"  where     {bug.headline.defect.where}" in text
    for command in ("replay", "minimize"):
        assert f"kfuzz {command} {path}" in text
    assert text.splitlines()[0] in as_junit([document(report)])
    record = case_file.read(path)
    assert record.origin is not None
    assert record.origin.severity == "warning"
    again = replay(record, broken("all_threads_write"), device)
    assert (again.status, [one.bucket for one in again.defects]) == ("warned", [bug.headline.defect.bucket])
    assert replay(record, load(KERNELS / "reduce" / "max_sum_last_block.cu"), device).status == "kept"


@pytest.mark.slow
def test_a_case_of_an_error_is_written_as_it_always_was(folder: Path) -> None:
    result = campaign("leading_neg_inf", 1, folder, cases=60)
    path = result.news[0].headline.path
    assert path is not None
    assert '"severity"' not in path.read_text()


@pytest.mark.slow
def test_a_broken_trial_is_no_trial_that_used_nothing_of_its_bound(folder: Path) -> None:
    """The page drew a bar at 0 for a kernel whose every answer is wrong."""
    result = campaign("leading_neg_inf", 1, folder, cases=60)
    progress = result.kernels[0].progress
    broken = sum(one.count for one in result.kernels[0].discoveries if one.defect.worst is not None)
    assert broken
    assert sum(progress.ratios) <= progress.trials - max(one.count for one in result.kernels[0].discoveries)


@pytest.mark.slow
def test_a_race_names_both_threads_and_their_launch(folder: Path) -> None:
    entries = document(report_of(campaign("missing_barrier", 1, folder, cases=12)))["kernels"][0]
    threads = [one["threads"] for one in entries["findings"] if one["kind"] == "race" and one["threads"]]
    assert threads
    for one in threads:
        assert (one["thread"], one["block"]) != (one["other_thread"], one["other_block"])
        assert all(at < most for at, most in zip(one["other_thread"], one["block_size"], strict=True))

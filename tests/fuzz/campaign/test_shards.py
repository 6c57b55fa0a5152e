"""Parts of a campaign: each trial is in exactly one, and their reports together are that of the whole."""

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from documents import finding, kernel, report
from our_kernels import every_kernel
from settled import settled

from kfuzz.campaign.schedule import LARGE, Shard, is_check, quotas, trial_count
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.document import Document
from kfuzz.ui.reports.formats.json_text import as_json
from kfuzz.ui.reports.merged import merge_reports

EVERY = every_kernel()[::4]
KERNELS = ("broken/leading_neg_inf", "softmax/online_warp", "broken/tail_dropped", "broken/all_threads_write")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kfuzz(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def campaign(shard: str, seed: str = "5", kernels: tuple[str, ...] = KERNELS) -> Document:
    """The report of one part, in a folder of its own."""
    place = Path(shard.replace("/", "of"))
    where = ("--corpus", str(place / "corpus"), "--json", str(place / "run.json"))
    done = kfuzz("fuzz", *kernels, "--device", "cpu", "--jobs", "1", "--seed", seed, "--max-cases", "64",
                 "--shard", shard, *where)  # fmt: skip
    assert done.exit_code in (0, 1, 2), done.output
    found: Document = json.loads((place / "run.json").read_text())
    return found


@pytest.mark.parametrize(("fault", "severities"), [("mine: race", ["error"]), ("mine: hang", ["error", "warning"])])
def test_a_warning_of_a_fault_that_is_an_error_in_another_part_is_left_out(fault: str, severities: list[str]) -> None:
    error = finding(bucket="mine: race")
    warning = finding(bucket="mine: race (warning)", fault=fault, severity="warning")
    parts = [report(kernel(findings=[one]), shard=f"{place}/2") for place, one in enumerate([error, warning], 1)]
    assert [one["severity"] for one in merge_reports(parts, ())["kernels"][0]["findings"]] == severities


def test_merge_ends_with_2_if_a_part_is_missing_whatever_the_others_found() -> None:
    Path("1.json").write_text(as_json([report(kernel(findings=[finding(case=None)]), shard="1/2", exit_code=1)]))
    done = kfuzz("merge", "1.json")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (2, "missing: part 2/2")
    assert "BROKEN" in done.stdout
    assert json.loads(Path("merged.json").read_text())["exit_code"] == 2


@pytest.mark.parametrize("count", [2, 3, 6, 16])
def test_every_trial_is_in_one_part(count: int) -> None:
    parts = [Shard(place, count) for place in range(1, count + 1)]
    for one in EVERY[:8]:
        assert all(sum(part.has(one, index) for part in parts) == 1 for index in range(500))


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 6, *(pytest.param(one, marks=pytest.mark.soak) for one in (3, 16))])
def test_parts_cost_alike(count: int) -> None:
    """Large and checked trials come by number: by their remainder, one part of six would have all of these."""
    given = quotas(len(EVERY), 300 * len(EVERY))
    sizes = [trial_count(EVERY, given, Shard(place, count)) or 0 for place in range(1, count + 1)]
    assert sum(sizes) == 300 * len(EVERY)
    fair = sum(sizes) / count
    assert all(abs(size - fair) < 5 * fair**0.5 for size in sizes)  # five standard deviations of a fair draw
    costly = [(kernel, index) for kernel in EVERY for index in range(300) if is_check(index) or index in LARGE]
    mine = Counter(place for place in range(1, count + 1) for one in costly if Shard(place, count).has(*one))
    assert all(abs(mine[place] - len(costly) / count) < 5 * (len(costly) / count) ** 0.5 for place in mine)


@pytest.mark.slow
def test_parts_together_are_the_whole() -> None:
    whole = campaign("1/1")
    parts = [campaign(f"{place}/3") for place in (1, 2, 3)]
    assert sum(len(kernel["findings"]) for kernel in whole["kernels"]) >= 3
    done = kfuzz(
        "merge", "3of3/run.json", "1of3/run.json", "2of3/run.json", "-o", "run.json", "--corpus", "1of1/corpus"
    )
    assert done.exit_code == whole["exit_code"] == 1, done.output
    joined = settled(merge_reports([whole], ()))
    assert settled(json.loads(Path("run.json").read_text())) == joined
    assert settled(merge_reports(parts[:2], ())) != joined
    assert kfuzz("report", "run.json").exit_code == 0


@pytest.mark.soak
def test_reports_that_do_not_belong_together_are_an_error() -> None:
    for shard in ("1/2", "2/2", "1/3"):
        campaign(shard, kernels=("reduce/warp_max_down",))
    campaign("1/4", seed="4", kernels=("reduce/warp_max_down",))
    Path("other.json").write_text(Path("1of4/run.json").read_text().replace('"1/4"', '"2/2"'))
    Path("whole.json").write_text(Path("1of2/run.json").read_text().replace('"1/2"', '"1/1"'))

    def merge_runs(*runs: str) -> tuple[int, str]:
        done = kfuzz("merge", *runs)
        return done.exit_code, done.stderr.strip()

    assert merge_runs("1of2/run.json", "2of2/run.json") == (0, "")
    assert merge_runs("1of2/run.json") == (2, "missing: part 2/2")
    assert merge_runs("1of2/run.json", "1of2/run.json") == (2, "part 1/2 is given twice")
    assert merge_runs("1of2/run.json", "1of3/run.json") == (2, "parts of different campaigns: 1/2, 1/3")
    assert merge_runs("1of2/run.json", "other.json") == (2, "parts of different campaigns: seeds 4, 5")
    twice = "reduce/warp_max_down is in two reports, and neither is a part of a campaign (--shard)"
    assert merge_runs("whole.json", "whole.json") == (2, twice)


@pytest.mark.slow
def test_a_case_that_is_missing_beside_its_report_is_an_error() -> None:
    campaign("1/2", kernels=KERNELS[:1])
    next(Path("1of2/corpus").rglob("*.json")).unlink()
    done = kfuzz("merge", "1of2/run.json")
    assert (done.exit_code, "copy the cases together with their report" in done.stderr) == (2, True)


@pytest.mark.soak
def test_a_part_is_resumed_as_that_part_alone() -> None:
    asked = ("fuzz", "reduce/warp_max_down", "--device", "cpu", "--jobs", "1", "--seed", "3", "--out", "out")
    first = kfuzz(*asked, "--max-cases", "20", "--shard", "1/2")
    assert first.exit_code == 0, first.output
    again = kfuzz(*asked, "--max-cases", "40", "--shard", "1/2", "--json", "resumed.json")
    assert again.exit_code == 0, again.output
    kfuzz(*asked[:-2], "--max-cases", "40", "--shard", "1/2", "--json", "whole.json")
    resumed, whole = (json.loads(Path(name).read_text()) for name in ("resumed.json", "whole.json"))
    assert settled(resumed) == settled(whole)
    other = kfuzz(*asked, "--max-cases", "40", "--shard", "2/2")
    assert (other.exit_code, "shard: 1/2, and this campaign has 2/2; give another folder" in other.stderr) == (2, True)


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/2/3", "one/two", "1/0"])
def test_what_is_no_part_is_a_usage_error(text: str) -> None:
    done = kfuzz("fuzz", "reduce/warp_max_down", "--shard", text, "--seed", "1")
    assert (done.exit_code, "is not a part; write 1/16 to 16/16" in done.stderr) == (2, True)


def test_a_part_needs_a_seed() -> None:
    done = kfuzz("fuzz", "reduce/warp_max_down", "--shard", "1/2")
    assert (done.exit_code, "all parts of a campaign must have the same seed" in done.stderr) == (2, True)

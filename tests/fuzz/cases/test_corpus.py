"""The corpus and its replay: one file a bucket, nothing lost, and a status for each case."""

import multiprocessing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from our_kernels import our_kernel

from kfuzz.campaign.trials.replay import LARGE, Replay, replay
from kfuzz.cases import case_file, corpus
from kfuzz.cases.case import Origin, Record, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Circumstances, Device, Finding, Job, Outcome, Probe, Run
from kfuzz.kinds import KINDS

LEADING = our_kernel("broken/leading_neg_inf")


def record(bucket: str, values: list[float], minimized: bool = False, kernel: str = "k", seed: int = 0) -> Record:
    case = case_of("softmax", {"x": np.array(values, np.float32)})
    return Record(
        case, Origin(kernel, bucket, "numeric", "it is off", "cpu", {"threads": 32}, False, 3, seed, minimized)
    )


def test_save_fetch_delete(tmp_path: Path) -> None:
    mine = record("k: numeric, row", [1, 2, 3])
    path = corpus.save(tmp_path, mine)
    assert path.parent == tmp_path / "softmax"
    assert path.name == f"numeric-{mine.case.digest[:8]}.json"
    assert corpus.fetch(tmp_path, "k: numeric, row") == mine
    assert corpus.fetch(tmp_path, "k: numeric") is None
    corpus.delete(path)
    assert list(corpus.entries([tmp_path])) == []


def test_a_bucket_keeps_its_smallest_case(tmp_path: Path) -> None:
    for values, stays in (([1, 2, 3], 3), ([1, 2, 3, 4], 3), ([1, 2], 2), ([5, 6, 7], 2)):
        path = corpus.save(tmp_path, record("b", values))  # type: ignore[arg-type]  # floats
        assert case_file.read(path).case.elements == stays
        assert len(corpus.paths([tmp_path])) == 1


def test_of_equal_cases_the_minimized_one_stays(tmp_path: Path) -> None:
    corpus.save(tmp_path, record("b", [3, 4], minimized=True))
    path = corpus.save(tmp_path, record("b", [1, 2]))
    kept = case_file.read(path).origin
    assert kept is not None
    assert kept.minimized


def test_no_name_has_more_than_40_characters(tmp_path: Path) -> None:
    for kind in KINDS:
        one = record("k: one", [1])
        assert one.origin is not None
        path = corpus.save(tmp_path, replace(one, origin=replace(one.origin, kind=kind, bucket=f"k: {kind}")))
        assert len(path.name) <= 40
        assert path.name.startswith(f"{kind[:26]}-")


def test_a_file_of_an_earlier_version_is_the_case_of_its_bucket(tmp_path: Path) -> None:
    large, small = record("k: numeric, row", [1, 2, 3]), record("k: numeric, row", [1, 2])
    old = tmp_path / "softmax" / f"k-numeric-row-{large.case.digest[:8]}.json"
    old.parent.mkdir()
    case_file.write(old, large)
    assert corpus.buckets_in(tmp_path) == {"k: numeric, row"}
    assert corpus.save(tmp_path, record("k: numeric, row", [1, 2, 3, 4])) == old
    new = corpus.save(tmp_path, small)
    assert [path.name for path in corpus.paths([tmp_path])] == [new.name] == [f"numeric-{small.case.digest[:8]}.json"]


def test_two_buckets_of_one_slug_do_not_displace_each_other(tmp_path: Path) -> None:
    corpus.save(tmp_path, record("k: numeric, a b", [1, 2]))
    corpus.save(tmp_path, record("k: numeric, a-b", [1, 3]))
    assert len(corpus.paths([tmp_path])) == 2


@pytest.mark.parametrize("endings", [("`a[i]++`", "`a[i]--`"), ("x" * 120 + "y", "x" * 120 + "z")])
def test_two_buckets_of_one_slug_may_share_a_case(tmp_path: Path, endings: tuple[str, str]) -> None:
    """One trial often shows several races at once: lines that differ in signs alone, or late, make one slug."""
    records = [record(f"k: race, {ending}", [1, 2]) for ending in endings]
    paths = [corpus.save(tmp_path, each) for each in (*records, *records)]
    assert paths[:2] == paths[2:]
    assert len(corpus.paths([tmp_path])) == 2
    assert [case_file.read(path).origin for path in paths[:2]] == [each.origin for each in records]


def test_a_sidecar_goes_with_the_last_case_that_needs_it(tmp_path: Path) -> None:
    long = [float(value) for value in range(5000)]
    one = corpus.save(tmp_path, record("a", long))
    two = corpus.save(tmp_path, record("b", long))
    corpus.delete(one)
    assert len(list(tmp_path.rglob("*.npy"))) == 1
    corpus.delete(two)
    assert list(tmp_path.rglob("*.npy")) == []


def test_a_damaged_file_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    corpus.save(tmp_path, record("a", [1]))
    damaged = tmp_path / "softmax" / "wrong.json"
    damaged.write_text('{"schema"')
    corpus.save(tmp_path, record("b", [2]))
    entries = list(corpus.entries([tmp_path]))
    assert [bool(entry.error) for entry in entries] == [False, False, True]
    assert "not JSON (truncated?)" in entries[2].error
    assert damaged.read_text() == '{"schema"'


def test_a_damaged_file_of_the_same_bucket_is_left_alone(tmp_path: Path) -> None:
    path = corpus.save(tmp_path, record("a", [1]))
    path.write_bytes(path.read_bytes()[:50])
    corpus.save(tmp_path, record("a", [1, 2]))
    assert len(path.read_bytes()) == 50
    assert len(corpus.paths([tmp_path])) == 2


def test_a_place_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="no such file or folder; a case file or a folder of them is expected"):
        corpus.paths([tmp_path / "missing"])


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CaseError, match="cannot be written: Not a directory; the case is not kept"):
        corpus.save(tmp_path / "file", record("a", [1]))


def save_many(folder: Path, offset: int) -> None:
    for number in range(30):
        corpus.save(folder, record(f"bucket {number % 10}", [float(offset)] * (1 + (number + offset) % 7)))


@pytest.mark.slow
def test_two_writers_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=save_many, args=(tmp_path, offset)) for offset in (0, 3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    buckets = [
        entry.record.origin.bucket for entry in corpus.entries([tmp_path]) if entry.record and entry.record.origin
    ]
    assert sorted(buckets) == [f"bucket {number}" for number in range(10)]
    assert [path.name for path in tmp_path.rglob("*.part")] == []


@pytest.mark.parametrize(
    ("bucket", "name"),
    [
        ("softmax/online: numeric", "softmax-online-numeric"),
        ("../../etc: passwd", "etc-passwd"),
        ("x" * 500, "x" * 26),
        ("-inf - -inf", "inf-inf"),
        ("\n\0", "case"),
    ],
)
def test_a_slug_is_a_harmless_file_name(bucket: str, name: str) -> None:
    assert corpus.slug(bucket) == name


def test_a_baseline_is_a_former_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(
        '{"schema": "kfuzz-report/1", "kernels": [{"findings": [{"bucket": "a"}, {"bucket": "b"}]}, {"findings": []}]}'
    )
    assert corpus.read_baseline(path) == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("{}", "schema: None; a report written by --json, 'kfuzz-report/1', is expected"),
        ('{"schema": "kfuzz-report/1"}', "kernels: None; a list"),
        ('{"schema": "kfuzz-report/1", "kernels": [3]}', "kernels: 3; an object"),
    ],
)
def test_a_baseline_that_is_none_is_one_clear_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(CaseError) as error:
        corpus.read_baseline(tmp_path / "report.json")
    assert words in str(error.value)


class Varies:
    """A device on which a probe with an odd seed is broken."""

    name = "varies"

    def run(self, job: Job, probe: Probe) -> Outcome:
        return Outcome((), (Finding("trap", "a trap"),) if probe.seed % 2 else ())

    def close(self) -> None:
        pass


class Keeps:
    name = "keeps"

    def run(self, job: Job, probe: Probe) -> Outcome:
        return Outcome((Run(Circumstances(), {}),)[:0])

    def close(self) -> None:
        pass


def status(kernel: Kernel, kept: Record, device: Device, tries: int = 3) -> tuple[str, int, int]:
    found: Replay = replay(kept, kernel, device, tries)
    return found.status, found.broken_runs, found.runs


MASKED = [-np.inf] * 33 + [0.0]


def test_a_case_that_still_breaks_is_broken(device: Device) -> None:
    assert status(LEADING, record("b", MASKED, kernel=LEADING.name), device) == ("broken", 3, 3)


def test_a_case_that_its_kernel_keeps_now_is_fixed(device: Device) -> None:
    right = our_kernel("softmax/online_warp")
    found, broken, runs = status(right, record("b", MASKED, kernel=right.name), device)
    assert (found, broken) == ("fixed", 0)
    assert runs >= 4


def test_a_case_runs_against_the_other_kernels_of_its_op(device: Device) -> None:
    kept = record("b", MASKED, kernel=LEADING.name)
    assert status(our_kernel("softmax/three_pass_thread"), kept, device)[0] == "kept"
    assert status(our_kernel("broken/max_starts_at_zero"), record("b", [-300.0, -301.0]), device)[0] == "broken"
    assert status(our_kernel("sgemm/tiled"), kept, device)[0] == "not claimed"


def test_broken_in_some_of_the_tries_is_flaky() -> None:
    found, broken, runs = status(LEADING, record("b", [1.0], kernel=LEADING.name), Varies(), tries=12)
    assert found == "flaky"
    assert runs == 12
    assert 0 < broken < 12


def test_a_large_case_is_replayed_in_one_launch_and_manner() -> None:
    right = our_kernel("softmax/online_thread")
    assert status(right, record("b", [1.0]), Keeps())[2] > 2
    assert status(right, record("b", [1.0] * LARGE), Keeps())[2] == 1
    assert status(right, record("b", [1.0] * LARGE, kernel=right.name), Keeps())[2] == 3


def test_a_case_the_claim_does_not_speak_of_says_why() -> None:
    found = replay(record("b", [90.0]), our_kernel("softmax/naive_block"), Keeps())
    assert (found.status, found.runs) == ("not claimed", 0)
    assert "x has 90..90" in found.reason

"""A measurement of several parts measures what is asked for, and takes the rest from the page's data."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.detection import async_pairs, exhibits
from benchmarks.measurement import Figures, measure_parts, read, results_so_far, write_json
from benchmarks.tightness import two_judges

KERNEL = "broken/adamw_eps_inside_root"


@pytest.mark.slow(6)
def test_the_results_of_a_page_make_the_same_page() -> None:
    for module in (exhibits, async_pairs):
        again = module.figures(module.results_of_page())
        for name, rows in read(module.DATA).figures.tables.items():
            assert [row for row in rows if row not in again.tables[name]] == []


def test_a_new_result_changes_the_page() -> None:
    results = exhibits.results_of_page()
    results["cpu"][KERNEL] = {"race": 1}
    (row,) = (one for one in exhibits.figures(results).tables["kernels"] if one["kernel"] == KERNEL)
    assert row["cpu"] == {"race": 1}


def test_missing_goes_on_from_an_interrupted_run_or_else_from_the_page(tmp_path: Path) -> None:
    part, of_page = tmp_path / "cpu.json", {"a": {"race": 1}, "b": {}}
    assert results_so_far(part, of_page, missing=True) == of_page
    assert results_so_far(part, of_page, missing=False) == {}
    part.write_text(write_json({"a": {"race": 2}}), encoding="utf-8")
    assert results_so_far(part, of_page, missing=True) == {"a": {"race": 2}}
    assert results_so_far(part, of_page, missing=False) == {}


def test_a_part_that_is_named_is_measured_and_the_others_are_those_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = {"cpu": {"a": 1}, "gpu": {"a": 2}}

    def measure(part: str, file: Path, known: Mapping[str, int]) -> dict[str, int]:
        file.write_text(write_json({"b": 3}))
        if part == "gpu":
            raise KeyboardInterrupt
        return {**known, "b": 3}

    def run(*words: str) -> Figures:
        return measure_parts(words, "", ("cpu", "gpu"), tmp_path / "all.json", dict(page), measure, Figures)

    assert run("cpu").numbers == {"cpu": {"b": 3}, "gpu": {"a": 2}}
    assert run("cpu", "--missing").numbers == {"cpu": {"a": 1, "b": 3}, "gpu": {"a": 2}}
    assert not list((tmp_path / "all").iterdir())
    for words, code in ((("gpu",), 130), (("tpu",), 2)):
        with pytest.raises(SystemExit) as stopped:
            run(*words)
        assert stopped.value.code == code
    assert [file.name for file in (tmp_path / "all").iterdir()] == ["gpu.json"]
    assert "with --missing goes on from" in capsys.readouterr().err


def test_no_page_is_written_from_no_sums(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        two_judges.measure(["--kept", str(tmp_path / "sums.json")])
    assert "has no sums yet: give --seconds" in capsys.readouterr().err

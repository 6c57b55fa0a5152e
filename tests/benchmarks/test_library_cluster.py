"""The list of libraries is judged on a Dask cluster, and goes on where it was interrupted."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from cluster import cluster_of
from paths import ROOT

from benchmarks.libraries import functions
from benchmarks.libraries.judge import claims_of, measure
from benchmarks.libraries.judging import Result
from benchmarks.libraries.records import Records
from kfuzz.devices import DeviceError

NAMES = ("numpy/sqrt", "numpy/sinc")


def test_a_record_of_another_machine_is_kept_if_list_and_rule_are_the_same(tmp_path: Path) -> None:
    root = next(one for one in functions.library("numpy").functions() if one.key == "number-sqrt-f16")
    records = Records(tmp_path, "cpu", frozenset({"version"}))
    made = {**asdict(records.now(root)), "version": "9.9", "machine": "tcp://there"}
    text = json.dumps({"result": asdict(Result("kept", "", 5, 5)), "made": made})
    records.take(root, text)
    assert records.is_done(root)
    for name, words in {"entry": "another entry of the list", "rule": "another rule"}.items():
        with pytest.raises(DeviceError, match=f"numpy/number-sqrt-f16: tcp://there has {words}"):
            records.take(root, json.dumps({**json.loads(text), "made": {**made, name: "another"}}))


@pytest.mark.soak
def test_a_cluster_judges_what_is_left_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="no distributed here: pip install 'kfuzz[cluster]'")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    kept = Records(tmp_path / "judged", "cpu", frozenset({"version"}))
    with cluster_of(tmp_path / "cluster", 2) as cluster:
        asked = ("--out", str(kept.folder), "--seconds", "0", "--cluster", cluster.address)
        first = measure([*asked, NAMES[0]]).tables["results"]
        assert {(row["key"], row["status"]) for row in first} == {(f"number-sqrt-{t}", "kept") for t in ("f16", "f32")}
        root = next(claims_of(NAMES[0], "cpu"))
        times = kept.path(root).stat().st_mtime_ns
        both = measure([*asked, *NAMES]).tables["results"]
    assert kept.path(root).stat().st_mtime_ns == times
    sinc = next(row for row in both if row["key"] == "number-sinc-f16")
    assert (len(both), sinc["status"], sinc["exact"]) == (3, "broken", "0.0")
    assert sinc["program"]

"""A campaign state of the previous version is read with the same meaning."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kfuzz.campaign.campaign import run_campaign
from kfuzz.campaign.options import Options
from kfuzz.campaign.state import Progress, read_state, write_state
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.cpu.device import CpuDevice
from kfuzz.devices import Refusal, Untried
from kfuzz.oracle.verdict import Pattern
from kfuzz.trials.unjudged import unjudged_text

REFUSALS = {Refusal("takes at most columns"), Refusal("ValueError: few columns", 9)}
WORDS_OF_6 = {Untried.TOO_SLOW: "it had not ended after ten seconds, and may only be slow"}
PATTERNS = [Pattern("row"), Pattern(""), Pattern("head", 0, 3), Pattern("interior", 7, 7), Pattern("strided", 3, 0, 4)]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return load(KERNELS / "broken" / "leading_neg_inf.cu")


@pytest.fixture(scope="module")
def progress(kernel: Kernel) -> Progress:
    found = run_campaign([kernel], CpuDevice, Options(seed=3, max_cases=20)).kernels[0].progress
    return replace(found, refusals=REFUSALS, untried={Untried.TOO_SLOW}, reasons={"sums may overflow"})


def as_version_6(text: str, progress: Progress) -> str:
    """The state as version 6 wrote it: a list of reasons in words, and patterns in words."""
    document = json.loads(text)
    for table in document["kernels"].values():
        untried = [f"not tried beyond 2^31 elements: {WORDS_OF_6[one]}" for one in progress.untried]
        table["reasons"] = sorted([*table["reasons"], *map(unjudged_text, progress.refusals), *untried])
        del table["refusals"], table["untried"], table["rungs"]
        for one in table["discoveries"]:
            del one["defect"]["right_run"]
            if one["defect"]["extent"]:
                one["defect"]["extent"]["pattern"] = str(Pattern(**one["defect"]["extent"]["pattern"]))
    return json.dumps({**document, "schema": "kfuzz-campaign/6"})


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_a_state_of_version_6_is_read_as_what_it_says(
    kernel: Kernel, progress: Progress, pattern: Pattern, tmp_path: Path
) -> None:
    (bucket, one), *_ = progress.discoveries.items()
    assert one.defect.extent
    defect = replace(one.defect, extent=replace(one.defect.extent, pattern=pattern))
    before = replace(progress, discoveries={bucket: replace(one, defect=defect)})
    write_state(tmp_path, 3, [kernel], [before])
    (again,) = read_state(tmp_path, 3, [kernel])
    assert (again.refusals, again.untried, again.reasons) == (REFUSALS, {Untried.TOO_SLOW}, {"sums may overflow"})
    old = as_version_6((tmp_path / "state.json").read_text(), before)
    assert "refused: line 9: ValueError: few columns" in json.loads(old)["kernels"][kernel.name]["reasons"]
    (tmp_path / "state.json").write_text(old)
    (read,) = read_state(tmp_path, 3, [kernel])
    assert (read.refusals, read.untried, read.reasons) == (again.refusals, again.untried, again.reasons)
    assert read.not_judged == before.not_judged
    (found,) = read.discoveries.values()
    assert found.defect.extent
    assert str(found.defect.extent.pattern) == str(pattern)


def test_a_damaged_state_of_version_6_is_one_line(kernel: Kernel, progress: Progress, tmp_path: Path) -> None:
    write_state(tmp_path, 3, [kernel], [progress])
    old = as_version_6((tmp_path / "state.json").read_text(), progress)
    (tmp_path / "state.json").write_text(re.sub(r'"reasons"', '"raisins"', old))
    with pytest.raises(CaseError, match="not the state of a campaign"):
        read_state(tmp_path, 3, [kernel])

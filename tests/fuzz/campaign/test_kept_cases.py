"""One kept case for each bug, what follows from a race belongs to it, and a second run says what was found before."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scan import write_scan

from kfuzz.campaign.campaign import Lane
from kfuzz.campaign.explain import search
from kfuzz.campaign.options import Options
from kfuzz.campaign.result import Result
from kfuzz.cases import corpus
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import Circumstances, Finding, Job, Outcome, Probe, Run
from kfuzz.ui.reports.failure import discovery_text
from kfuzz.ui.reports.summary import counts_text


class Races:
    """A softmax with one race, at four pairs of lines, which shows in checked runs; others only differ by calls."""

    name = "given"
    follows = True

    def run(self, job: Job, probe: Probe) -> Outcome:
        given = next(buffer.content for buffer in job.buffers if buffer.content is not None)
        with np.errstate(all="ignore"):
            e = np.exp(given - given.max(axis=-1, keepdims=True))
            y = (e / e.sum(axis=-1, keepdims=True)).astype(np.float32)
        line = 20 + given.size % 4
        race = [Finding("race", "two writes", line=line, other_line=20)] if probe.check and self.follows else []
        state = Finding("stateful", "y depends on earlier calls", severity="warning", array="y")
        return Outcome((Run(Circumstances(), {"y": y, "x": given}),), (*race, state))

    def close(self) -> None:
        pass


class Apart(Races):
    follows = False


@pytest.fixture
def scan(tmp_path: Path) -> Kernel:
    return write_scan(tmp_path)


def hunt(scan: Kernel, folder: Path, device: type[Races] = Races, **options: Any) -> Result:  # noqa: ANN401  each field of Options has a type of its own
    lanes = [Lane("given", device)]
    return search([scan], lanes, replace(Options(seed=1, max_cases=60, corpus=folder / "corpus"), **options))


def test_one_bug_keeps_one_case_and_its_consequences_belong_to_it(scan: Kernel, tmp_path: Path) -> None:
    """A tiled sgemm without its second barrier kept ten cases, one of them a separate warning `stateful, C`."""
    (bug,) = hunt(scan, tmp_path).kernels[0].bugs
    assert bug.headline.defect.kind == "race"
    assert {one.defect.kind for one in bug.also} == {"race", "stateful"}
    assert [one.path for one in bug.every if one.path] == [bug.headline.path] == corpus.paths([tmp_path / "corpus"])


def test_a_warning_that_no_race_explains_stays_a_bug_of_its_own(scan: Kernel, tmp_path: Path) -> None:
    (bug,) = hunt(scan, tmp_path, Apart).kernels[0].bugs
    assert (bug.headline.defect.kind, bug.is_error, bug.is_kept_before) == ("stateful", False, False)


def test_a_second_run_says_that_a_bug_was_found_before_and_leaves_its_case(scan: Kernel, tmp_path: Path) -> None:
    (first,) = hunt(scan, tmp_path).kernels
    kept = corpus.paths([tmp_path / "corpus"])
    (second,) = hunt(scan, tmp_path, seed=2).kernels
    assert corpus.paths([tmp_path / "corpus"]) == kept == [second.news[0].headline.path]
    assert (counts_text(first), counts_text(second)) == ("1 new", "1 found before")
    said = "known     an earlier run has kept a case of this bug; it fails every run until a --baseline has it"
    assert said in discovery_text(second.news[0].headline)
    assert said not in discovery_text(first.news[0].headline)


def test_a_campaign_that_goes_on_has_not_found_its_own_bugs_before(scan: Kernel, tmp_path: Path) -> None:
    hunt(scan, tmp_path, out=tmp_path / "out", max_cases=20)
    (bug,) = hunt(scan, tmp_path, out=tmp_path / "out").kernels[0].bugs
    assert not bug.is_kept_before
    assert [bug.headline.path] == corpus.paths([tmp_path / "corpus"])

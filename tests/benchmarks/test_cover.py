"""The cover of a score: few cases, and each mutant is killed again by one of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.detection.cover import Dead, cover, is_killed_by, measure, thin, thinned
from kfuzz.cases.case import Record, case_of
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import KERNELS, load
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.measure.mutants.mutate import as_kernel, mutants
from kfuzz.measure.mutants.run import FILE, HowFar, run_score, scores_in
from kfuzz.measure.mutants.trials import Score, ScoreOptions, control_of, score_of

pytestmark = pytest.mark.slow

KERNEL = load(KERNELS / "reduce" / "warp_max_down.cu")
FEW = ScoreOptions(seed=3, max_cases=12)


SCORE = Score("0", KERNEL.name, "max as min", 1, "a", "b", "killed", 1, 0.1, kind="numeric")
"""The score of no mutant in particular."""


def test_a_few_small_cases_kill_every_mutant_again(device: CpuDevice) -> None:
    control = control_of(KERNEL, device, FEW)
    some = [one for one in mutants(KERNEL) if one.operator in ("max as min", "max forgets", "guard dropped")]
    scored = [(one, score_of(one, KERNEL, device, FEW, control)) for one in some]
    dead = [Dead(as_kernel(one, KERNEL), KERNEL, score) for one, score in scored if score.status == "killed"]
    covered = cover("row_max", dead, FEW)
    assert len(dead) >= 3
    assert (covered.killed, covered.left) == (len(dead), ())
    records = thin(covered.chosen)
    assert len(records) <= len(covered.chosen) <= len(dead)
    for one in dead:
        assert any(is_killed_by(record, one.kernel, device) for record in records)
    assert not any(is_killed_by(record, KERNEL, device) for record in records)
    assert all(record.case.elements <= 64 for record in records)
    assert measure(dead, records) == []
    assert measure(dead[:2], ()) == dead[:2]


def test_a_case_whose_mutants_the_others_kill_is_left_out() -> None:
    one, two, three = (Dead(KERNEL, KERNEL, replace(SCORE, line=line)) for line in (1, 2, 3))
    small, middle, large = (Record(case_of("row_max", {"x": np.zeros((1, n), np.float32)}), None) for n in (1, 2, 3))
    strikes = {(1, 1), (1, 2), (2, 2), (2, 3), (3, 3)}  # (columns of the case, line of the mutant)
    chosen = [(small, (one,)), (middle, (two,)), (large, (three,))]
    assert thinned(chosen, lambda record, dead: (record.case.elements, dead.score.line) in strikes) == (small, middle)
    assert thinned(chosen, lambda record, dead: record.case.elements == dead.score.line) == (small, middle, large)


def test_a_mutant_that_no_case_kills_again_is_named() -> None:
    harmless = Dead(KERNEL, KERNEL, SCORE)
    assert cover("row_max", [harmless], FEW).left == (f"{KERNEL.name}:1: max as min",)


@pytest.mark.soak
def test_what_a_score_kept_is_read_again(tmp_path: Path) -> None:
    def stop(progress: HowFar) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    report = run_score([KERNEL], CpuDevice, FEW, 1, tmp_path, stop)
    options, scores = scores_in(tmp_path)
    assert (options, len(scores)) == (FEW, 3)
    assert {score.key for score in scores} == set(report.scores)
    (tmp_path / FILE).write_text("no score")
    with pytest.raises(CaseError, match="holds no score"):
        scores_in(tmp_path)

"""How many rows of a case of vast arrays the oracle judges."""

from paths import KERNELS

from kfuzz.campaign.trials.trial import prepare
from kfuzz.cases.case import case_of
from kfuzz.cases.plans.plan import input_shapes, make_vast_inputs
from kfuzz.claims.kernel import load
from kfuzz.devices import Probe


def rows_judged(name: str, **axes: int) -> int:
    kernel = load(KERNELS / name)
    case = case_of(kernel.op, make_vast_inputs(kernel, input_shapes(kernel, axes)))
    tune = {name: values[0] for name, values in kernel.tune.items()}
    vast = prepare(kernel, case, tune, Probe()).job.vast
    assert vast is not None
    return vast.most_rows


def test_a_head_with_too_many_scores_is_run_and_not_judged() -> None:
    """A process took 57 GB and minutes for the scores of such a head of 370,720 elements; a campaign stood still."""
    head = {"d": 2, "dv": 2}
    assert rows_judged("causal_attention/flash_warp.cu", heads=2, keys=46340, rows=46340, **head) == 0
    assert rows_judged("causal_attention/flash_warp.cu", heads=60000, keys=2048, rows=2, **head) == 64
    assert rows_judged("softmax/online_warp.cu", rows=1 << 23, cols=260) == 64

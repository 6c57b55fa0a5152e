"""What a torch reference says of equal elements, 0 log 0 and masked rows is met early, whatever the seed."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.claims.kernel import Kernel, load
from kfuzz.devices.python.device import PythonDevice

pytest.importorskip("torch")

TRIALS, SEEDS, LEAST = 100, (1, 2, 3), 8
PLACES = 'x = "f32[rows, cols] -> x", y = "i64[rows] <- y"'
WITH_PLACES = 'x = "f32[rows, cols] -> x", m = "f32[rows] <- y0", y = "i64[rows] <- y1"'
OF_ROWS = 'x = "f32[rows, cols] -> x", y = "f32[rows] <- y"'
OF_TWO = 'x = "f32[rows, cols] -> x", t = "f32[rows, cols] -> t", y = "f32[rows, cols] <- y"'
MASKED = 'x = "f32[rows, 64] -> x", mask = "bool[rows, 64] -> mask", y = "f32[rows] <- y"'
MASKED_ROWS = MASKED.replace("f32[rows] <-", "f32[rows, 64] <-")
KEPT, PICKED = "torch.where(mask, x, 0.0)", "x.masked_fill(~mask, {})"
EDGES = {
    "the last of equal maxima": (
        *(PLACES, "x", "torch.argmax(x, -1)"),
        "x.shape[1] - 1 - x.flip(1).argmax(1)",
        "torch.where((x == x.amax(1, keepdim=True)) | (x != x), torch.arange(x.shape[1]), x.shape[1]).amin(1)",
    ),
    "the last of equal minima": (
        *(WITH_PLACES, "x", "torch.min(x, dim=1)"),
        "(x.amin(1), x.shape[1] - 1 - x.flip(1).argmin(1))",
        "(x.amin(1), x.argmin(1, keepdim=True).view(-1))",
    ),
    "0 log 0": (
        *(OF_TWO, "x, t", "F.kl_div(x, t, reduction='none')"),
        "t * (torch.log(t) - x)",
        "torch.where(t == 0, 0.0, t * torch.log(t)) - t * x",
    ),
    "0 log 0 in a sum": (
        *(OF_ROWS, "x", "torch.special.entr(x.abs()).sum(-1)"),
        "-(x.abs() * torch.log(x.abs())).sum(-1)",
        "-torch.where(x == 0, 0.0, x.abs() * torch.log(x.abs())).sum(-1)",
    ),
    "a row of which nothing is kept": (
        *(MASKED_ROWS, "x, mask", f"torch.softmax({PICKED.format('-torch.inf')}, -1)"),
        f"torch.softmax({PICKED.format(-1e30)}, -1)",
        "torch.softmax(torch.where(mask, x, -torch.inf), -1)",
    ),
    "a mean of nothing": (
        *(MASKED, "x, mask", f"{KEPT}.sum(-1) / mask.sum(-1).clamp(min=1)"),
        f"{KEPT}.sum(-1) / mask.sum(-1)",
        f"{KEPT}.sum(-1) / torch.maximum(mask.sum(-1), torch.ones(()))",
    ),
    "a row of which all is kept": (
        *(MASKED, "x, mask", f"{KEPT}.sum(-1)"),
        f"torch.where(mask.all(-1), x[:, :-1].sum(-1), {KEPT}.sum(-1))",
        f"{PICKED.format(0)}.sum(-1)",
    ),
}
"""Arrays, parameters, a reference, a function that is wrong at its edge, and one that is right."""


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def write(path: Path, arrays: str, parameters: str, reference: str, forward: str) -> Kernel:
    claim = f'# /// kernel\n# op = "reference"\n# arrays = {{ {arrays} }}\n# ///\n'
    functions = (("reference", reference), ("forward", forward))
    texts = [f"def {name}({parameters}):\n    return {text}\n" for name, text in functions]
    path.write_text("\n\n".join([f"{claim}import torch\nimport torch.nn.functional as F\n", *texts]))
    return load(path)


def trials(kernel: Kernel, device: PythonDevice, seed: int) -> Iterator[Trial]:
    for index in count():
        attempt = attempt_of(kernel, seed, index, 1 << 12)
        yield run_trial(kernel, attempt.case, attempt.tune, device, probe_of(kernel, seed, index, 2, 10.0))


@pytest.mark.slow(20)
@pytest.mark.parametrize("edge", EDGES)
def test_the_edge_of_a_reference_is_met_within_a_hundred_trials(
    edge: str, device: PythonDevice, tmp_path: Path
) -> None:
    """`xlogy(0, 0)` was NaN, so that any answer was right; each of equal elements was; and no mask was counted."""
    *task, wrong, right = EDGES[edge]
    broken, sound = write(tmp_path / "wrong.py", *task, wrong), write(tmp_path / "right.py", *task, right)
    for seed in SEEDS:
        found = (at for at, trial in zip(range(TRIALS), trials(broken, device, seed), strict=False) if trial.errors)
        at = next(found, None)
        assert at is not None, seed
        same = zip(range(max(at + 1, LEAST)), trials(sound, device, seed), strict=False)
        assert not [(seed, index, defect) for index, trial in same for defect in trial.defects]


@pytest.mark.slow
def test_of_places_that_torch_leaves_open_any_is_right_that_holds_what_was_sought(
    device: PythonDevice, tmp_path: Path
) -> None:
    """No kernel could be loaded whose reference returns the places of a sort or of topk."""
    arrays = 'x = "f32[rows, 64] -> x", v = "f32[rows, 4] <- y0", y = "i64[rows, 4] <- y1"'
    last = "x.shape[1] - 1 - x.flip(1).topk(4)[1]"
    right = write(tmp_path / "right.py", arrays, "x", "torch.topk(x, 4)", f"(x.topk(4)[0], {last})")
    made = [trial for _, trial in zip(range(LEAST), trials(right, device, 1), strict=False)]
    assert not [defect for trial in made for defect in trial.defects]
    for wrong in (f"(x.topk(4)[0] + 1, {last})", f"(x.topk(4)[0], {last} * 0)"):
        broken = write(tmp_path / "wrong.py", arrays, "x", "torch.topk(x, 4)", wrong)
        assert any(trial.errors for _, trial in zip(range(LEAST), trials(broken, device, 1), strict=False))


@pytest.mark.slow
def test_the_first_of_equal_elements_is_meant_unless_the_claim_says_any(tmp_path: Path) -> None:
    arrays, reference = 'x = "f32[rows, 64] -> x", y = "i64[rows] <- y"', "x.argmax(-1)"
    assert write(tmp_path / "one.py", arrays, "x", reference, reference).special.ties == "first"
    text = (tmp_path / "one.py").read_text().replace("# ///\nimport", '#\n# [values]\n# ties = "any"\n# ///\nimport')
    (tmp_path / "one.py").write_text(text)
    assert load(tmp_path / "one.py").special.ties == "any"


@pytest.mark.slow
def test_a_pooling_may_name_any_of_equal_elements(device: PythonDevice, tmp_path: Path) -> None:
    """Torch does not say which of equal elements a pooling names."""
    arrays = 'x = "f32[rows, 2, 64] -> x", m = "f32[rows, 2, 32] <- y0", y = "i64[rows, 2, 32] <- y1"'
    last = "x.shape[2] - 1 - F.max_pool1d(x.flip(2), 2, return_indices=True)[1].flip(2)"
    windows = "F.max_pool1d(x, 2, return_indices=True)"
    kernel = write(tmp_path / "last.py", arrays, "x", windows, f"({windows}[0], {last})")
    made = [trial for _, trial in zip(range(LEAST), trials(kernel, device, 1), strict=False)]
    assert not [defect for trial in made for defect in trial.defects]
    assert sum(trial.elements for trial in made) > 0

"""Tensors of two numbers in a byte: their numbers, torch's product of them, and submissions to a task that has them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import Kernel
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.numbers.elements import E2M1, F32, values
from kfuzz.oracle.numbers.layout import element_slots, slot_count
from kfuzz.oracle.systems.band import Bands
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.words.scaling import BLOCK, TILES, matmul_of_blocks

pytestmark = pytest.mark.slow


def packed_module() -> Any:  # noqa: ANN401  it imports torch, which may be missing
    pytest.importorskip("torch")
    return pytest.importorskip("kfuzz.devices.python.torch.packed")


def pairs(*shape: int, seed: int = 1) -> Any:  # noqa: ANN401  a tensor
    """A packed tensor of any codes."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    return torch.randint(0, 256, shape, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)


def in_tiles(scales: Any) -> Any:  # noqa: ANN401  tensors
    """Scales in tiles; the padding is NaN."""
    torch = pytest.importorskip("torch")
    made = torch.full((slot_count(tuple(scales.shape), 1, TILES),), torch.nan).to(torch.float8_e4m3fn)
    made[torch.from_numpy(element_slots(tuple(scales.shape), 1, TILES)).reshape(-1)] = scales.reshape(-1)
    return made


def test_a_packed_tensor_is_unpacked_along_the_axis_whose_step_is_1() -> None:
    packed = packed_module()
    one = pairs(2, 3, 4)
    whole = packed.unpack(one)
    first = one.view(pytest.importorskip("torch").uint8)[1, 2, 3].item()
    assert whole.shape == (2, 3, 8)
    assert whole[1, 2, 6:].tolist() == [E2M1.numbers[first & 15], E2M1.numbers[first >> 4]], "the low bits are first"
    assert packed.unpack(one.permute(2, 0, 1)[1:]).equal(whole.permute(2, 0, 1)[2:])
    assert packed.unpack(packed.pack_numbers(whole, one.dtype)).equal(whole)
    with pytest.raises(RuntimeError, match="step is 1"):
        packed.unpack(one, 0)


def test_the_product_of_packed_matrices_is_the_formulas_in_both_number_systems() -> None:
    """The formula, in float64 and by sets, and torch's operation agree; the padding of the tiles does not matter."""
    torch, packed = pytest.importorskip("torch"), packed_module()
    a, b = pairs(5, 48), pairs(32, 48, seed=2)
    scales = [(torch.rand(rows, 96 // BLOCK) * 3).to(torch.float8_e4m3fn) for rows in (5, 32)]
    tiles = [in_tiles(one) for one in scales]
    got = packed.scaled_mm(a, b.t(), *tiles, out_dtype=torch.float32).double().numpy()
    left, right = (
        packed.unpack(one).double() * scale.double().repeat_interleave(BLOCK, 1)
        for one, scale in zip((a, b), scales, strict=True)
    )
    assert np.array_equal(got, (left @ right.t()).numpy())
    exact, sets = (made_by(N, packed, a, b, tiles) for N in (Exact({}), Bands(Accuracy(), {})))
    assert np.array_equal(exact.x, got)
    assert np.all((sets.lo <= got) & (got <= sets.hi))
    sizes = (left.abs() @ right.abs().t()).numpy()  # 96 terms to add, a product and two scales: 99 roundings
    assert np.all(sets.hi - sets.lo <= 2 * np.expm1(100 * F32.u) * sizes)


def made_by(N: Any, packed: Any, a: Any, b: Any, tiles: Any) -> Any:  # noqa: ANN401  as formulas have it
    given = [N.input(packed.unpack(one).double().numpy()) for one in (a, b)]
    given += [N.input(one.double().numpy()) for one in tiles]
    return matmul_of_blocks(N, given[0], given[1].T, *given[2:], "mm")


@pytest.mark.parametrize(
    ("columns", "scales", "words"), [(16, 4, "expected 512"), (16, 511, "expected 512"), (17, 512, "multiples of 16")]
)
def test_a_product_that_torch_refuses_is_refused(columns: int, scales: int, words: str) -> None:
    torch, packed = pytest.importorskip("torch"), packed_module()
    scale = torch.ones(scales).to(torch.float8_e4m3fn)
    with pytest.raises(RuntimeError, match=words):
        packed.scaled_mm(pairs(5, 32), pairs(columns, 32).t(), scale, scale, out_dtype=torch.float16)


TASK = """
tests:
  - {"m": [3, 5], "n": 16, "k": 64, "seed": 1}
"""
REFERENCE = """
import torch


def tiles_of(x):
    rows, cols = x.shape
    high, wide = -(-rows // 128), -(-cols // 4)
    x = torch.nn.functional.pad(x, (0, wide * 4 - cols, 0, high * 128 - rows))
    return x.view(high, 4, 32, wide, 4).permute(0, 3, 2, 1, 4).reshape(-1)


def generate_input(m, n, k, seed):
    torch.manual_seed(seed)
    made = []
    for rows in m:
        a, b = (torch.randint(0, 256, (one, k // 2), dtype=torch.uint8, device="cuda") for one in (rows, n))
        scales = [torch.randint(0, 4, (one, -(-k // 16))).to(torch.float8_e4m3fn).cuda() for one in (rows, n)]
        again = tiles_of(scales[0]).reshape(-(-rows // 128), -1, 32, 4, 4).permute(2, 3, 0, 4, 1)
        c = torch.empty(rows, n, dtype=torch.float16, device="cuda")
        pair = a.view(torch.float4_e2m1fn_x2), b.view(torch.float4_e2m1fn_x2)
        made.append((*pair, *scales, again, c))
    return made


def ref_kernel(data):
    answers = []
    for a, b, scale_a, scale_b, _, c in data:
        tiles = tiles_of(scale_a).cuda(), tiles_of(scale_b).cuda()
        c[:, :] = torch._scaled_mm(a.clone(), b.transpose(0, 1), *tiles, bias=None, out_dtype=torch.float16)
        answers.append(c)
    return answers
"""
SUBMISSION = """
import torch

VALUES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
TABLE = torch.cat([VALUES, -VALUES])


def numbers(x):
    codes = x.view(torch.uint8).long()
    return torch.stack([TABLE[codes & 15], TABLE[codes >> 4]], -1).reshape(x.shape[0], -1, 16)


def custom_kernel(data):
    for a, b, _, scale_b, tiles, c in data:
        scale_a = tiles.float().permute(2, 1, 0, 4, 3).reshape(-1, tiles.shape[3] * tiles.shape[4])
        scale_a = scale_a[: a.shape[0], : scale_b.shape[1]]
        parts = torch.einsum("mgk,ngk->mng", numbers(a), numbers(b))
        parts = parts * (scale_a[:, None] * scale_b.float())
        c.copy_(parts.sum(-1))
    return [one[-1] for one in data]
"""
WRONG = {
    "scale of the next block": ("scale_b.float())", "scale_b.float().roll(1, 1))"),
    "nibbles swapped": ("numbers(a),", "numbers(a).reshape(*a.shape, 2).flip(-1).reshape(a.shape[0], -1, 16),"),
    "one block left out": ("parts.sum(-1)", "parts[..., 1:].sum(-1)"),
    "padding added": ("* (scale_a[:, None]", "* (scale_a[:, None] + 0 * tiles.float().sum()"),
}


@pytest.mark.slow(30)
def test_a_task_of_packed_numbers_is_judged_by_what_it_hands_over(tmp_path: Path) -> None:
    """Its lists of sizes vary, one size each, and the scales that it hands over twice are one input.

    The right submission adds up each block first; NaN in the padding of the tiles must not reach an answer.
    """
    pytest.importorskip("torch")
    right = submission(tmp_path, SUBMISSION)
    assert right.home == {"m_0": 3, "m_1": 5, "n": 16, "k": 64}
    assert (right.axes["k"].multiple, right.axes["n"].multiple, right.axes["m_0"].multiple) == (32, 16, 1)
    assert str(right.arrays["x0_0"]) == "e2m1x2[m_0, k / 2] -> x0_0"
    assert str(right.arrays["x0_4_scale"]) == "e4m3[m_0, k / 16] -> x0_2_scale, tiles 128x4"
    assert found_in(right) == set()
    assert {severity for _, severity in found_in(submission(tmp_path, wrong("nibbles swapped")))} == {"error"}


@pytest.mark.soak
@pytest.mark.parametrize("words", WRONG)
def test_a_submission_with_one_bug_is_an_error(words: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert {severity for _, severity in found_in(submission(tmp_path, wrong(words)))} == {"error"}


def wrong(words: str) -> str:
    old, new = WRONG[words]
    assert SUBMISSION.count(old) == 1
    return SUBMISSION.replace(old, new)


def submission(folder: Path, text: str) -> Kernel:
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "task.yml").write_text(TASK)
    (folder / "submission.py").write_text(text)
    return kernel_with(folder / "submission.py", Unclaimed(op="reference", reference=folder))


def found_in(kernel: Kernel) -> set[tuple[str, str]]:
    """The kinds and severities of what four trials find."""
    found, device = set(), PythonDevice()
    try:
        for index in range(4):
            one = attempt_of(kernel, 3, index, 1 << 12)
            given = {role: values(made) for role, made in one.case.arrays.items() if role.endswith("_scale")}
            assert all(np.nanmin(scales) >= 0 for scales in given.values()), "a scale is not negative"
            trial = run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            found |= {(defect.kind, defect.severity) for defect in trial.defects}
            assert trial.elements or trial.defects
    finally:
        device.close()
    return found

"""References that run: loops over integers, writes into slices and dicts have sets, and reasons name a line.

Long, since each test brings the text of its reference.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.claims.kernel import load
from kfuzz.claims.references.running import frozen, narrowest, sets_of_run
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.oracle.numbers.elements import BF16, E2M1, E4M3, F16, F32
from kfuzz.oracle.sets.reference_sets import Grade

pytestmark = pytest.mark.slow
Arrays = Mapping[str, Any]
TWINS, DECLARED = "kfuzz.claims.references.torch.twins", "kfuzz.claims.references.torch.declared"
"""They import torch, which may be missing."""
SEGMENTS = ([0, 2, 4, 7], [0, 3, 3, 7], [0, 7, 7, 7], [0, 0, 0, 0])


def paged(segments: list[int]) -> Callable[..., Any]:
    """A paged decode as people write it."""
    torch = pytest.importorskip("torch")

    begin, pages = torch.tensor(segments), torch.tensor([4, 1, 1, 0, 3, 5, 2])

    def reference(q: Any, k_cache: Any, v_cache: Any) -> Any:  # noqa: ANN401  tensors
        out, lse = torch.zeros_like(q), torch.full(q.shape[:2], -torch.inf)
        for b in range(q.shape[0]):
            first, last = int(begin[b].item()), int(begin[b + 1].item())
            if first >= last:
                continue
            k, v = (cache.squeeze(1)[pages[first:last].long()] for cache in (k_cache, v_cache))
            for h in range(q.shape[1]):
                s = (q[b, h] @ k[:, h // 2].T) * 0.25
                lse[b, h] = torch.logsumexp(s, -1)
                out[b, h] = torch.softmax(s, -1) @ v[:, h // 2]
        return {"out": out, "lse": lse}

    return reference


def moved(x: Any, w: Any) -> Any:  # noqa: ANN401  tensors
    """Writes into slices, of views, in place, by index, and a permuted answer."""
    torch = pytest.importorskip("torch")

    y = torch.empty(x.shape[0], 3, x.shape[1])
    y[:, 0] = x
    y[:, 1] = torch.relu(x) @ w.T
    y[:, 2].copy_(torch.cumsum(x, -1))
    y[:, :, 0] += 1
    y[torch.tensor([0, 1]), 1, torch.tensor([1, 2])] = 7.0
    h = torch.zeros_like(x)
    for t in range(3):
        h = torch.tanh(x[:, t : t + 1] * w[0] + h)
    seen = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool))
    return y.permute(2, 0, 1), h, torch.where(seen, w, -torch.inf).softmax(-1)


def written_in_turns(x: Any, w: Any) -> Any:  # noqa: ANN401  tensors
    """Rows that lie across, overwrite one another, and are read in part, whole, and again after more was written."""
    torch = pytest.importorskip("torch")

    cache = torch.zeros(3, x.shape[1], x.shape[0])
    for page in range(3):
        cache[page] = x.T * w[0, page]
        cache[page, 1:3] = cache[page, 0:2] + 1.0
    state = torch.zeros(2, 3, 4).transpose(-1, -2)
    for head in (0, 1, 0):
        state[head] = torch.tanh(state[head] + w[:4, :3])
    one, two = cache[1, 2].clone(), state[0, :, 1].clone()
    cache[1:, :, 0] = 5.0
    return cache[:, 1], one, two, state.contiguous(), cache.permute(2, 0, 1)[1:, ::2]


def check(reference: Callable[..., Any], shapes: Arrays) -> None:
    """The sets of one run lie around torch's own numbers in float64, are narrow, and its float32 lies inside."""
    torch = pytest.importorskip("torch")
    answered_of = pytest.importorskip(f"{TWINS}.three_runs").Answered
    reference_sets = pytest.importorskip(f"{TWINS}.as_arrays").reference_sets

    torch.manual_seed(2)
    given = [torch.randn(shape) for shape in shapes.values()]
    returned = reference(*given)
    answers = [one.double().numpy() for one in (returned.values() if isinstance(returned, dict) else returned)]
    answered = answered_of(reference, given, __file__)
    assert not answered.notes.measured
    for one, answer in zip(reference_sets(answered), answers, strict=True):
        assert one.x.shape == answer.shape
        assert np.allclose(one.x, answer, rtol=1e-5, atol=1e-6)
        assert not one.grade(answer, F32).any()
        assert np.all(one.proved <= 1e-4 * (1 + np.abs(np.where(np.isfinite(one.x), one.x, 0))))
        finite = np.where(np.isfinite(answer), answer, 0)
        off = finite + 3e-4 * (1 + np.abs(finite))
        assert (one.grade(off, F32) == Grade.BROKEN)[np.isfinite(answer)].all()


def test_writes_into_slices_and_views_need_no_rule() -> None:
    check(moved, {"x": (4, 5), "w": (5, 5)})


def test_parts_that_are_written_in_turns_are_read_as_they_were_then() -> None:
    check(written_in_turns, {"x": (5, 4), "w": (4, 4)})


@pytest.mark.parametrize("segments", SEGMENTS)
def test_loops_over_the_segments_of_a_cache_are_followed(segments: list[int]) -> None:
    check(paged(segments), {"q": (3, 4, 16), "k_cache": (6, 1, 2, 16), "v_cache": (6, 1, 2, 16)})


def test_positions_that_are_counted_in_floats_are_integers() -> None:
    def reference(x: Any, w: Any) -> Any:  # noqa: ANN401  tensors
        seen = x.new_ones(x.shape)
        return (x[:, :, None] * w[(seen.cumsum(1) * seen - 1).long()],)

    pytest.importorskip("torch")
    check(reference, {"x": (2, 4), "w": (4, 3)})


def test_a_reference_that_goes_by_values_is_refused_with_its_line() -> None:
    torch = pytest.importorskip("torch")
    answered_of = pytest.importorskip(f"{TWINS}.three_runs").Answered
    unstable = pytest.importorskip(f"{TWINS}.sets").UnstableError

    def by_value(x: Any) -> Any:  # noqa: ANN401  a tensor
        return x if (x / 3).sum() > 0 else -x

    def by_place(x: Any) -> Any:  # noqa: ANN401  a tensor
        return x[(x / 3 - x[0] / 3 >= 0).nonzero()]

    for reference in (by_value, by_place):
        line = reference.__code__.co_firstlineno + 1
        given = [torch.tensor([1e-8, -1e-8, 1.0, -1.0])]
        with pytest.raises(unstable, match=rf"^test_running.py:{line}: "):
            _ = answered_of(reference, given, __file__).sets


def test_an_operation_without_a_rule_is_measured_and_gives_no_error() -> None:
    torch = pytest.importorskip("torch")
    answered_of = pytest.importorskip(f"{TWINS}.three_runs").Answered
    reference_sets = pytest.importorskip(f"{TWINS}.as_arrays").reference_sets

    def reference(x: Any) -> Any:  # noqa: ANN401  a tensor
        return torch.linalg.inv(x)

    answered = answered_of(reference, [torch.eye(4) + 0.1 * torch.randn(4, 4)], __file__)
    (one,) = reference_sets(answered)
    assert list(answered.notes.measured) == [f"linalg_inv_ex (test_running.py:{reference.__code__.co_firstlineno + 1})"]
    assert set(one.grade(one.x + 1, F32).ravel()) == {Grade.SUSPECT}


STEPS = """
import torch


class Model(torch.nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.w = torch.nn.Linear(wide, wide)

    def forward(self, x, table):
        out = torch.zeros_like(x)
        for row in range(x.shape[0]):
            source = int(table[row].item())
            out[row] = torch.tanh(self.w(x[source]))
            if source > row:
                out[row] += x[row]
        return out


class ModelNew(Model):
    def forward(self, x, table):
        y = torch.tanh(self.w(x[table.long()]))
        late = table {than} torch.arange(x.shape[0])
        return torch.where(late[:, None], y + x, y)


batch = 12
wide = 16


def get_inputs():
    return [torch.rand(batch, wide), torch.randint(0, batch, (batch,))]


def get_init_inputs():
    return [wide]
"""


@pytest.mark.parametrize(("than", "kinds"), [(">", set()), (">=", {"numeric"})])
def test_a_kernel_is_judged_by_a_run_of_its_reference_at_its_own_integers(
    than: str, kinds: set[str], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "steps.py").write_text(STEPS.replace("{than}", than))
    kernel = kernel_with(tmp_path / "steps.py", Unclaimed(op="reference"))
    device = PythonDevice()
    try:
        attempts = [attempt_of(kernel, 3, index, 1 << 10) for index in range(6)]
        found = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
    finally:
        device.close()
    assert {defect.kind for trial in found for defect in trial.defects} == kinds
    assert sum(trial.elements for trial in found) > 50


def test_the_limit_of_indices_is_found_where_drawn_segments_read_none() -> None:
    """Of one draw of two offsets no sequence had both queries and pages: it took any page."""
    torch = pytest.importorskip("torch")
    integers, declared_in = pytest.importorskip("kfuzz.claims.references.torch.integers"), pytest.importorskip(DECLARED)

    def reference(x: Any, first: Any, other: Any, pages: Any) -> Any:  # noqa: ANN401  tensors
        every = zip(first.tolist(), first.tolist()[1:], other.tolist(), other.tolist()[1:], strict=False)
        return [x[pages[c:d].long()] for a, b, c, d in every if a < b and c < d]

    dims = {"x": ["slots"], "first": ["n + 1"], "other": ["n + 1"], "pages": ["used"]}
    below = {"first": "rises 0..used", "other": "rises 0..used", "pages": ""}
    drawn = {"first": [0, 0, 4], "other": [0, 4, 4], "pages": [0, 0, 0, 0]}

    def make(_: Any, sizes: Mapping[str, int]) -> dict[str, Any]:  # noqa: ANN401  the inputs as they are declared
        return {"x": torch.ones(sizes["slots"]), **{name: torch.tensor(one) for name, one in drawn.items()}}

    every = [{"slots": slots, "n": 2, "used": 4} for slots in (3, 5)]
    found = integers.with_limits(reference, declared_in.Declared(dims, below, {}), every, make)
    assert found.below["pages"] == "slots"


SCALED = """import torch


def reference(x, w):
    scale = 0.3
    y = torch.relu(x) * scale
    return y @ w + 1.0


def get_inputs():
    return [torch.randn(8, 16), torch.randn(16, 12)]
"""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("torch.relu(x) @ w + 1.0", "explained by: reference.py:6 without `* scale`"),
        ("0.3 * torch.relu(x) @ w - 1.0", "explained by: reference.py:7 with `- 1.0` for `+ 1.0`"),
        ("torch.zeros(len(x), w.shape[1])", "0 in "),
    ],
)
def test_a_finding_names_the_line_of_the_reference_whose_change_explains_it(
    answer: str, words: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "reference.py").write_text(SCALED)
    (tmp_path / "scaled.py").write_text(f"import torch\n\n\ndef scaled(x, w):\n    return {answer}\n")
    kernel = kernel_with(tmp_path / "scaled.py", Unclaimed(op="reference"))
    device = PythonDevice()
    try:
        attempts = [attempt_of(kernel, 3, index, 1 << 10) for index in range(4)]
        found = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
    finally:
        device.close()
    assert any(words in defect.detail for trial in found for defect in trial.defects)


FLASH = """# /// kernel
# op = "reference"
#
# [arrays]
# q = "{element}[m, d] -> q"
# k = "{element}[n, d] -> k"
# v = "{element}[n, dv] -> v"
# y = "f32[m, dv] <- y"
#
# [call]
# entry = "flash"
# ///
import torch


def reference(q, k, v):
    return torch.softmax(q.float() @ k.float().T * 0.25, -1) @ v.float()


def flash(q, k, v):
    s = q.float() @ k.float().T * 0.25
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e.bfloat16().float() @ v.float() / e.sum(-1, keepdim=True)
"""


@pytest.mark.parametrize("element", ["bf16", "f32"])
def test_inputs_of_16_bits_are_those_of_a_product_whose_answer_is_wider(element: str, tmp_path: Path) -> None:
    """An attention with inputs of bf16 and an answer of float32 was broken; with inputs of float32 it is."""
    pytest.importorskip("torch")
    (tmp_path / "flash.py").write_text(FLASH.replace("{element}", element))
    kernel = load(tmp_path / "flash.py")
    device = PythonDevice()
    try:
        attempts = [attempt_of(kernel, 3, index, 1 << 10) for index in range(8)]
        found = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, 3, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
    finally:
        device.close()
    assert any(trial.defects for trial in found) == (element == "f32")


def test_a_type_of_8_bits_or_fewer_is_none_in_which_a_reference_rounds_each_step() -> None:
    """torch has no tensors of e2m1 by itself: a product of nvfp4 was not judged."""
    assert narrowest([E2M1, E4M3, F32]) == ""
    assert narrowest([E2M1, F16, E4M3]) == "f16"
    assert narrowest([F16, BF16]) == "bf16"


def test_what_a_reference_changes_in_torch_reaches_no_other_one(tmp_path: Path) -> None:
    """One process has imported torch for both; each runs in a fork of its own."""
    pytest.importorskip("torch")
    shapes = "\n\ndef get_inputs():\n    rows, cols = 4, 8\n    return [torch.randn(rows, cols)]\n"
    texts = {
        "first": "import torch\n\ntorch.relu = torch.neg\n\n\ndef reference(x):\n    return torch.relu(x)\n",
        "other": "import torch\n\n\ndef reference(x):\n    return torch.relu(x)\n",
    }
    numbers = np.float32([[1, -2, 3], [0.5, -1, 0]])
    for name in ("first", "other", "first"):
        path = tmp_path / f"{name}.py"
        path.write_text(texts[name] + shapes)
        (tmp_path / "answer.py").write_text("import torch\n\n\ndef answer(x):\n    return torch.relu(x)\n")
        kernel = kernel_with(tmp_path / "answer.py", Unclaimed(op="reference", reference=path))
        found = sets_of_run(str(kernel.op), frozen({"x": numbers}), "", "")
        assert np.array_equal(found["y"].x, -numbers if name == "first" else np.maximum(numbers, 0))

"""Numbers of an input that are the same in every draw of get_inputs: they stay so in each trial, and others vary."""

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kfuzz.campaign.minimizing.minimize import Failure, minimize, record_of, trial_of
from kfuzz.campaign.minimizing.subject import subject_of
from kfuzz.campaign.schedule import attempt_of, probe_of
from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case_file import read, write
from kfuzz.claims.kernel import Kernel
from kfuzz.claims.references.same_numbers import SameNumbers, with_same_numbers
from kfuzz.devices.python.device import PythonDevice
from kfuzz.measure.roundings.infer import Unclaimed, kernel_with
from kfuzz.ui.reports.claims import claim_notes

torch = pytest.importorskip("torch")
begun_generators = pytest.importorskip("kfuzz.devices.python.torch.drawn_inputs").begun_generators
mixed_seeds = pytest.importorskip("kfuzz.devices.python.torch.own_seeds").mixed_seeds
settled_in = pytest.importorskip("kfuzz.claims.references.torch.same_numbers").settled_in

GENERATOR = "g = torch.Generator().manual_seed(0)\n"
OF_TORCH = "torch.tril(torch.randn(16, 16, generator=g) * 0.1, -1) + torch.eye(16)"
OF_EACH_CALL = OF_TORCH.replace("=g", "=torch.Generator().manual_seed(0)")
OF_NUMPY = "torch.from_numpy(np.tril(np.random.randn(16, 16) * 0.1, -1) + np.eye(16)).float()"
PRODUCT = "mat @ x", "torch.tril(mat, -1) @ x + x", "torch.tril(mat, -1) @ x + 2 * x"
INVERSE = (
    "torch.linalg.inv(mat) + 0 * x",
    "torch.linalg.solve_triangular(mat, torch.eye(16), upper=False, unitriangular=True) + 0 * x",
    "torch.linalg.solve_triangular(-mat, torch.eye(16), upper=False, unitriangular=True) + 0 * x",
)


def kernel_of(folder: Path, texts: tuple[str, str], mat: str, head: str = "") -> Kernel:
    """An answer, beside a reference whose get_inputs makes this matrix."""
    both = [f"import numpy as np\nimport torch\n\n{head}\n\ndef one(mat, x):\n    return {text}\n" for text in texts]
    (folder / "problem.py").write_text(f"{both[0]}\n\ndef get_inputs():\n    return [{mat}, torch.randn(16, 1)]\n")
    (folder / "answer.py").write_text(both[1].replace("def one", "def answer"))
    problem = folder / "problem.py"
    problem.write_text(problem.read_text().replace("def one", "def reference"))
    return kernel_with(folder / "answer.py", Unclaimed(op="reference", reference=problem))


@pytest.mark.slow(20)
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
@pytest.mark.parametrize(
    ("texts", "mat", "head"),
    [(INVERSE, OF_TORCH, GENERATOR), (INVERSE, OF_EACH_CALL, ""), (PRODUCT, OF_NUMPY, "")],
    ids=["an inverse, by a generator of the file", "an inverse, by one of each call", "a product, by numpy"],
)
def test_an_answer_may_rely_on_a_unit_triangle(
    texts: tuple[str, str, str], mat: str, head: str, is_right: bool, tmp_path: Path
) -> None:
    """A kernel that inverts a unit lower triangular matrix was accused for numbers on the diagonal and above it."""
    kernel = kernel_of(tmp_path, (texts[0], texts[1 if is_right else 2]), mat, head)
    for seed in (3, 4, 5) if is_right else (3,):
        found, elements = kinds_under(kernel, seed)
        assert (not found) == is_right, found
        assert elements


def kinds_under(kernel: Kernel, seed: int) -> tuple[set[str], int]:
    """The kinds of what six trials of a seed find, and how many elements they judge."""
    with closing(PythonDevice()) as device:
        attempts = [attempt_of(kernel, seed, index, 1 << 10) for index in range(6)]
        trials = [
            run_trial(kernel, one.case, one.tune, device, probe_of(kernel, seed, index, 2, 10.0))
            for index, one in enumerate(attempts)
        ]
    return {defect.kind for one in trials for defect in one.defects}, sum(one.elements for one in trials)


@pytest.mark.slow(20)
def test_a_smaller_case_and_a_kept_one_have_the_same_triangle(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, (PRODUCT[0], PRODUCT[2]), OF_NUMPY)
    (note,) = claim_notes(kernel)
    assert note == "136 of the 256 numbers of mat, of 16x16, are the same in every draw: they stay so"
    own = np.triu(np.ones((16, 16), bool))
    tried = attempt_of(kernel, 3, 0, 1 << 10)
    with closing(PythonDevice()) as device:
        subject = subject_of(kernel, tried.case, tried.tune, False, 0)
        trial = trial_of(subject, 3, device, 0, 5.0)
        found = minimize(Failure(subject, trial.defects[0], 3), device, most_runs=200, max_time=30)
        small = found.failure.subject
        write(tmp_path / "small.json", record_of(found, device.name))
        record = read(tmp_path / "small.json")
        again = run_trial(kernel, record.case, small.tune, device, probe_of(kernel, 3, 0, 2, 10.0))
    assert again.defects
    for case in (tried.case, small.case, record.case):
        mat = kernel.stored(case.arrays)["mat"]
        assert np.array_equal(mat[own], np.eye(16)[own])
    assert not np.array_equal(kernel.stored(tried.case.arrays)["mat"][~own], np.zeros(120))


def drawn(make: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401  a function that makes a tensor
    torch.manual_seed(0)
    return ({"x": make().double()} for _ in range(64))


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda: torch.randn(40, 40), 0),
        (lambda: torch.zeros(40, 40), 0),
        (lambda: torch.relu(torch.randn(300, 300)), 0),
        (lambda: torch.nn.functional.dropout(torch.randn(100, 100), 0.9), 0),
        (lambda: torch.randn(int(torch.randint(1, 9, ())), 40), 0),
        (lambda: torch.cat([torch.relu(torch.randn(30, 40)), torch.full((10, 40), float("nan"))]), 400),
        (lambda: torch.randn(9, 9).triu() + torch.full((9, 9), -torch.inf).tril(-1).nan_to_num(0, 0, -torch.inf), 36),
    ],
    ids=["none", "all", "a relu", "a dropout", "other shapes", "padding", "a mask"],
)
def test_numbers_are_the_same_by_a_rule_and_not_by_chance(make: Any, count: int) -> None:  # noqa: ANN401
    found = settled_in(drawn(make), {"x"})
    assert sum(len(one.arrays()[1]) for one in found.values()) == count
    assert not settled_in(drawn(make), {"y"})


def test_only_an_array_of_their_shape_gets_the_same_numbers() -> None:
    places = np.eye(3, dtype=bool)
    same = {"x": tuple(SameNumbers.of(places, np.full((3, 3), -np.inf)))}
    made = with_same_numbers({"x": np.ones((3, 3), np.float32), "y": np.ones((3, 3), np.float32)}, same)
    assert list(made) == ["x"]
    assert np.array_equal(made["x"], np.where(places, -np.inf, 1))
    assert not with_same_numbers({"x": np.ones((3, 4), np.float32)}, same)


def test_a_generator_of_a_file_begins_with_each_seed_and_goes_on_as_before() -> None:
    own = SimpleNamespace(
        torch=torch.Generator().manual_seed(5), numpy=np.random.default_rng(5), old=np.random.RandomState(5),
        python=random.Random(5),  # noqa: S311  no secret
    )  # fmt: skip

    def make(of_torch=own.torch, *, numpy=own.numpy, old=own.old, python=own.python) -> list[float]:  # type: ignore[no-untyped-def]  # noqa: ANN001
        return [float(torch.rand((), generator=of_torch)), numpy.random(), old.rand(), python.random()]

    def under(seed: int) -> list[float]:
        with begun_generators(make, seed):
            return make()

    first = under(1)
    assert first == under(1)
    assert not set(first) & set(under(2))
    last = make()
    assert last == [
        float(torch.rand((), generator=torch.Generator().manual_seed(5))), np.random.default_rng(5).random(),
        np.random.RandomState(5).rand(), random.Random(5).random(),  # noqa: S311  no secret
    ]  # fmt: skip


def seeded() -> list[float]:
    """A number of each sequence, which the file begins with a seed of its own."""
    torch.manual_seed(3)
    np.random.seed(3)
    random.seed(3)
    generator = torch.Generator()
    assert generator.manual_seed(3) is generator
    return [
        float(torch.rand(())), float(torch.rand((), generator=generator)), np.random.rand(), random.random(),  # noqa: S311  as above
        np.random.default_rng(seed=3).random(), np.random.RandomState(3).rand(), random.Random(3).random(),  # noqa: S311  no secret
    ]  # fmt: skip


def test_a_draw_adds_itself_to_the_seeds_that_a_file_sets() -> None:
    """By one seed all draws were alike: no structure was seen, and integers were the same in each trial."""
    own = seeded()
    found = []
    for draw in (0, 1, 1, 2):
        with mixed_seeds(draw):
            found.append(seeded())
    assert found[0] == own == seeded()
    assert found[1] == found[2]
    assert not any(
        one == other for i, j in ((0, 1), (0, 3), (1, 3)) for one, other in zip(found[i], found[j], strict=True)
    )
    with mixed_seeds(1):
        assert np.random.default_rng(None).random() != np.random.default_rng(None).random()
        assert random.Random("word").random() == random.Random("word").random()  # noqa: S311  as above

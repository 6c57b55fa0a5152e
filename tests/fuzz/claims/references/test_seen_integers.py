"""What the integers of an input have in common, by what get_inputs makes under several seeds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kfuzz.devices.python.loading import execute_file

torch = pytest.importorskip("torch")
given = pytest.importorskip("kfuzz.claims.references.torch.given")
declared = pytest.importorskip("kfuzz.claims.references.torch.declared")
drawn = pytest.importorskip("kfuzz.claims.references.torch.drawn")
drawn_inputs = pytest.importorskip("kfuzz.devices.python.torch.drawn_inputs")
seen_integers = pytest.importorskip("kfuzz.claims.references.torch.seen_integers")

SEEN: dict[str, Callable[[], Any]] = {
    "sorted 4..4": lambda: torch.full((6,), 4),
    "7..7": lambda: torch.full((3,), 7),
    "sorted 1..9": lambda: torch.cat([torch.tensor([1, 9]), torch.randint(1, 9, (12,))]).sort().values,
    "distinct 0..29": lambda: torch.stack([torch.cat([torch.tensor([0, 29]), torch.randperm(28)[:5] + 1])] * 2),
    "permutation": lambda: torch.randperm(9),
    "rises 0..20": lambda: torch.tensor([0, 0, *sorted(torch.randint(0, 21, (5,)).tolist()), 20]),
    "0..9 or -1": lambda: torch.stack([torch.arange(10), torch.full((10,), -1)]),
    "-128..127": lambda: torch.cat([torch.tensor([-128, 127]), torch.randint(-128, 128, (40,))]).to(torch.int8),
}  # fmt: skip


@pytest.mark.parametrize("text", SEEN)
def test_integers_have_the_structure_that_all_seeds_show(text: str) -> None:
    (some,) = seen_integers.integers_seen(lambda: [SEEN[text]()], ["at"], ["at"]).values()
    assert seen_integers.structure_seen(some) == text


def test_another_seed_gives_other_numbers_and_both_of_its_draws_the_same() -> None:
    def made(draw: int) -> Any:  # noqa: ANN401  tensors
        return drawn_inputs.inputs_of_draw(lambda: [torch.randn(4), torch.randint(0, 99, (4,))], Path("p.py"), draw)

    first, again, both, other = map(made, (0, 0, 1, drawn_inputs.PER_SEED))
    assert drawn.are_same(first, again)
    assert drawn.are_same(first, both)
    assert not any(a.equal(b) for a, b in zip(first, other, strict=True))


def test_more_integers_than_are_looked_at_and_more_inputs_than_a_trial_takes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(
        "import torch\n\n\ndef reference(x, at):\n    return x[at]\n\n\ndef get_inputs():\n"
        "    rows, cols = 1 << 15, 1 << 14\n"
        "    return torch.empty(rows, cols), torch.randint(0, rows, (cols,))\n"
    )
    module = execute_file(path, path.read_text(), 0)
    with pytest.raises(declared.CannotError, match="at holds integers, and get_inputs makes too many to look at"):
        given.inputs_of(module, module.reference, path.read_text())
    with torch.device("meta"), pytest.raises(declared.CannotError, match="makes 536,887,296 elements, too many for a"):
        drawn.drawn_inputs_of(lambda draw: module.get_inputs(), module.reference)

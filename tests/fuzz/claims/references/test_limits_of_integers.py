"""Which integers a reference's inputs may hold, where its text does not say it, and the sizes beside them."""

from collections.abc import Mapping
from typing import Any

import pytest

torch = pytest.importorskip("torch")
declared = pytest.importorskip("kfuzz.claims.references.torch.declared")
inputs = pytest.importorskip("kfuzz.claims.references.torch.inputs")
integers = pytest.importorskip("kfuzz.claims.references.torch.integers")
sizes = pytest.importorskip("kfuzz.claims.references.torch.sizes")


def test_a_permutation_is_a_structure_and_no_size() -> None:
    made = integers.integers_of("permutation", ["n"], {"n": 7})
    assert sorted(made.tolist()) == list(range(7))


def pages_by_heads(q: Any, pages: Any, table: Any) -> Any:  # noqa: ANN401
    share = q.shape[1] // pages.shape[1]
    assert share * pages.shape[1] == q.shape[1]
    return q[:, ::share] * pages[table.long()].sum(1)


def test_a_limit_that_no_size_shows_is_asked_for() -> None:
    """Before, `NameError: name 'batch' is not defined`: a claim does not say the problem's own sizes."""
    dims = {"q": ["batch", "heads"], "pages": ["2 * batch", "groups"], "table": ["batch", "2"]}
    known = declared.Declared(dims, {"table": ""}, {})
    every = [{"batch": 2, "heads": 3, "groups": 5}]
    with pytest.raises(declared.CannotError, match=r"which integers table may hold is not known \(it takes any\)"):
        integers.with_limits(pages_by_heads, known, every, inputs.tensors_for)


def test_a_dimension_of_sizes_that_are_all_known_is_a_number() -> None:
    known = {"batch": 3, "n": 8}
    made = {text: sizes.with_fixed_sizes(text, known) for text in ("n", "m", "2 * batch", "n * m // 4", "7")}
    assert made == {"n": "8", "m": "m", "2 * batch": "6", "n * m // 4": "8 * m // 4", "7": "7"}


def test_a_size_moves_by_its_multiple_alone() -> None:
    of: Mapping[str, Any] = {"dims": {"x": ["n", "k"]}, "below": {}, "fixed": {}, "sizes": {"n": 4, "k": 256}}
    one = declared.Declared(**of)
    assert inputs.sizes_that_cannot_vary(one, lambda x: x.view(-1, x.shape[1] // 128, 128), {"k": 128}) == set()

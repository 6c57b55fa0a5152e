"""The sizes at which kfuzz runs a reference to describe it."""

import pytest

pytest.importorskip("torch")
inputs = pytest.importorskip("kfuzz.claims.references.torch.inputs")
declared = pytest.importorskip("kfuzz.claims.references.torch.declared")


def test_sizes_have_the_order_that_they_have_at_home() -> None:
    """A window is smaller than its row, whichever of both comes first among the dimensions."""
    own = declared.Declared({"x": ["rows", "length"], "w": ["window"]}, {}, {}, {"rows": 9, "length": 32, "window": 4})
    for sizes in inputs.sizes_to_run(own, {"axes": {"rows": (1, 0, 1)}}):
        assert list(sizes) == ["rows", "length", "window"]
        assert sizes["window"] < sizes["rows"] < sizes["length"]

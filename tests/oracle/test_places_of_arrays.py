"""Gather, scatter, masks and resizing: exact answers are kept, and a wrong place, or a lost value, is broken."""

import numpy as np
import pytest

from kfuzz.oracle import judge
from kfuzz.oracle.words.resizing import nearest_places

RNG = np.random.default_rng(13)
X = RNG.standard_normal((2, 6, 3)).astype("f4")
INDEX = RNG.integers(0, 6, (2, 4, 3))
VALUES = RNG.standard_normal((2, 4, 3)).astype("f4")
INDEX[0, :2, 0] = 5  # two values at one place


def test_gather_and_index_select_take_exact_elements() -> None:
    y = np.take_along_axis(X, INDEX, 1)
    assert judge("gather", {"x": X, "index": INDEX}, {"y": y}).status == "kept"
    assert judge("gather", {"x": X, "index": INDEX}, {"y": np.nextafter(y, np.float32(9))}).status == "broken"
    rows = np.array([5, 0, 0])
    assert judge("index_select", {"x": X, "index": rows}, {"y": X[:, rows]}).status == "kept"
    assert judge("index_select", {"x": X, "index": rows}, {"y": X[:, rows - 1]}).status == "broken"
    flat = {"x": X[0], "index": rows}
    assert judge("index_select(x[rows, inner], index)", flat, {"y": X[0][rows]}).status == "kept"


def test_of_values_at_one_place_scatter_has_any_and_scatter_add_all() -> None:
    arrays = {"into": X, "index": INDEX, "values": VALUES}
    added, put, most = X.copy(), X.copy(), X.copy()
    at = (np.arange(2)[:, None, None], INDEX, np.arange(3))
    np.add.at(added, at, VALUES)
    np.maximum.at(most, at, VALUES)
    for j in range(4):
        put[at[0][:, 0], INDEX[:, j], at[2]] = VALUES[:, j]
    first = put.copy()
    first[0, 5, 0] = VALUES[0, 0, 0]
    lost = added.copy()
    lost[0, 5, 0] -= VALUES[0, 1, 0]
    assert judge("scatter_add", arrays, {"y": added}).status == "kept"
    assert judge("scatter_add", arrays, {"y": lost}).status == "broken"
    assert judge("scatter", arrays, {"y": put}).status == "kept"
    assert judge("scatter", arrays, {"y": first}).status == "kept"
    assert judge("scatter", arrays, {"y": X}).status == "broken"
    assert judge("scatter_max", arrays, {"y": most}).status == "kept"
    assert judge("scatter_max", arrays, {"y": np.minimum(most, put)}).status == "broken"


def test_masks_choose_exactly() -> None:
    mask = RNG.integers(0, 2, X[0].shape)
    filled = np.where(mask, np.float32(-1e9), X[0])
    how: dict[str, float | str] = {"value": -1e9}
    assert judge("masked_fill", {"x": X[0], "mask": mask}, {"y": filled}, scalars=how).status == "kept"
    assert judge("masked_fill", {"x": X[0], "mask": 1 - mask}, {"y": filled}, scalars=how).status == "broken"
    arrays = {"mask": mask, "a": X[0], "b": X[1]}
    assert judge("where", arrays, {"y": np.where(mask, X[0], X[1])}).status == "kept"
    assert judge("where", arrays, {"y": np.where(mask, X[1], X[0])}).status == "broken"


@pytest.mark.parametrize(("n", "out"), [(3, 7), (7, 3), (5, 15), (49, 7), (4, 16), (1, 49)])
def test_the_nearest_place_in_float_is_one_of_the_two_that_are_right(n: int, out: int) -> None:
    low, high = nearest_places(n, out)
    scale, back = np.float32(n) / np.float32(out), np.float32(1) / (np.float32(out) / np.float32(n))
    places = np.arange(out, dtype="f4")
    for by in (np.floor(places * scale), np.floor(places * back), np.arange(out) * n // out):
        assert ((low <= by) & (by <= high)).all()
    assert (high - low <= 1).all()
    assert (n, out) != (4, 16) or (low == high).all()


def test_images_of_other_sizes() -> None:
    x = RNG.standard_normal((2, 4, 5)).astype("f4")
    how: dict[str, float | str] = {"out_h": 8, "out_w": 15}
    y = x[:, np.arange(8) // 2][:, :, np.arange(15) // 3]
    assert judge("upsample_nearest2d", {"x": x}, {"y": y}, scalars=how).status == "kept"
    assert judge("upsample_nearest2d", {"x": x}, {"y": np.roll(y, 1, axis=1)}, scalars=how).status == "broken"
    for align in (0, 1):
        z = x.astype("f8")
        for axis, (n, out) in ((1, (4, 8)), (2, (5, 15))):
            i = np.arange(out)
            at = i * (n - 1) / (out - 1) if align else np.maximum((i + 0.5) * n / out - 0.5, 0)
            first = np.minimum(at.astype(int), n - 1)
            share = np.expand_dims(at - first, tuple(one for one in range(3) if one != axis))
            z = z.take(first, axis) * (1 - share) + z.take(np.minimum(first + 1, n - 1), axis) * share
        arrays, got = {"x": x}, {"y": z.astype("f4")}
        assert judge("upsample_bilinear2d", arrays, got, scalars={**how, "align_corners": align}).status == "kept"
        wrong = {**how, "align_corners": 1 - align}
        assert judge("upsample_bilinear2d", arrays, got, scalars=wrong).status == "broken"


def test_a_place_has_the_least_the_product_and_the_mean_of_its_values() -> None:
    rng = np.random.default_rng(3)
    into, values = (rng.standard_normal((2, n, 3)).astype("f4") for n in (4, 7))
    index = rng.integers(0, 4, (2, 7, 3))
    least, product, total, many = into.copy(), into.copy(), into.copy(), np.ones(into.shape, "f4")
    at = (np.arange(2)[:, None, None], index, np.arange(3))
    for function, made in ((np.minimum, least), (np.multiply, product), (np.add, total)):
        function.at(made, at, values)
    np.add.at(many, at, 1)
    arrays = {"into": into, "index": index, "values": values}
    for name, right in (("scatter_min", least), ("scatter_mul", product), ("scatter_mean", total / many)):
        assert judge(name, arrays, {"y": right}).status == "kept"
        last = right.copy()
        place = (0, index[0, 6, 0], 0)
        last[place] *= np.float32(1 + 1e-4)
        assert judge(name, arrays, {"y": last}).status == "broken"
    assert judge("scatter_mean", arrays, {"y": total / (many - 1 + (many == 1))}).status == "broken"

"""The sizes of a reference's outputs follow from those of its inputs."""

import pytest

pytest.importorskip("torch")
sizes = pytest.importorskip("kfuzz.claims.references.torch.sizes")
fitted_sizes = pytest.importorskip("kfuzz.claims.references.torch.fitted_sizes")
SIZES = [{"n": n, "m": m} for n, m in ((23, 29), (24, 29), (25, 29), (30, 29), (56, 29), (23, 31), (24, 35))]
EXPRESSIONS = (
    "n", "7", "n + 2", "n - 3", "2 * n", "3 * n + 1", "n // 2", "(n - 3) // 2", "(n + 5) // 4", "n * m", "n + m",
    "2 * n * m", "(n * m) // 4", "n // 11", "(n - 16) // 16 + 1", "m - n + 30", "(m - n + 40) // 2 + 1",
    "n * m // 3 + 2", "2 * (n // 2)", "3 * ((n + 1) // 2) - 1", "(2 * n - 1) // 3", "2 * ((3 * n) // 4) + 5",
)  # fmt: skip


@pytest.mark.parametrize("wanted", EXPRESSIONS)
def test_an_expression_is_found_by_its_values(wanted: str) -> None:
    values = [eval(wanted, dict(one)) for one in SIZES]  # noqa: S307  a text above
    found = fitted_sizes.fit_size(values, SIZES)
    assert found is not None
    assert [eval(found, dict(one)) for one in SIZES] == values  # noqa: S307


def test_a_part_for_each_group_of_many_is_found() -> None:
    sizes = [{"n": n, "m": 5} for n in (256, 384, 512, 768)]
    assert fitted_sizes.fit_size([2, 3, 4, 6], sizes) == "n // 128"


def test_what_follows_from_no_size_is_not_found() -> None:
    assert fitted_sizes.fit_size([2, 3, 5, 7, 11, 13, 17], SIZES) is None


def test_a_quotient_is_found_whatever_the_divisor_is() -> None:
    """A scale for each group of 64 columns: no other divisor divides all sizes."""
    sizes = [{"rows": 2, "cols": 128}, {"rows": 3, "cols": 192}, {"rows": 2, "cols": 640}]
    assert fitted_sizes.fit_size([one["cols"] // 64 for one in sizes], sizes) == "cols // 64"


def test_an_argument_has_numbers_in_place_of_sizes_that_are_fixed() -> None:
    drawn = "a=x if draw % 2 else inputs(draw)['n']"
    texts = ("n", "x", "n=n", "(x, 2 * n, m)", drawn, "x == n", "a=replace(b, w=w, n=n)")
    made = [sizes.with_fixed_names(text, {"n": 4}) for text in texts]
    assert made == ["4", "x", "n=4", "(x, 2 * 4, m)", drawn, "x == 4", "a=replace(b, w=w, n=4)"]

"""Generated graphs and lists: the contents of each, the same in every format."""

from array import array
from itertools import pairwise

import pytest

from kfuzz.cases.plans.graphs import COUNT, GRAPHS, LISTS, PROBE, Graph
from kfuzz.cases.plans.indices import FAMILIES, indices_recipe
from kfuzz.cases.plans.input_files import OF_GRAPHS, OF_LISTS


@pytest.mark.parametrize("one", [*GRAPHS, PROBE], ids=lambda one: one.name)
def test_a_graph_goes_both_ways_without_loops(one: Graph) -> None:
    assert all(left < right for left, right in pairwise(one.edges))
    assert {(b, a) for a, b in one.edges} == set(one.edges)
    assert all(a != b and 0 <= a < one.vertices for a, b in one.edges)
    assert one.starts[-1] == len(one.edges)


def test_every_format_says_the_same_graph() -> None:
    one = GRAPHS[-1]
    words = {name: write(one).split() for name, write in OF_GRAPHS.items()}
    numbers = array("i", OF_GRAPHS["egr"](one))
    assert list(map(int, words["csr.txt"])) == list(numbers)
    assert list(numbers[2 : 3 + one.vertices]) == one.starts
    pairs = list(map(int, words["edges.txt"]))
    assert list(zip(pairs[::2], pairs[1::2], strict=True)) == list(one.edges)
    assert list(map(int, words["counted_edges.txt"])) == [one.vertices, len(one.edges), *pairs]
    assert [int(word) - 1 for word in words["mtx"][8:]] == pairs


def test_lists_are_indices_into_themselves_in_every_format() -> None:
    for one in LISTS:
        assert len(one.values) == COUNT
        assert all(0 <= value < COUNT for value in one.values)
        assert list(map(int, OF_LISTS["counted_numbers.txt"](one).split())) == [COUNT, *one.values]
    shuffled = next(one for one in LISTS if one.name == "shuffled")
    assert sorted(shuffled.values) == list(range(COUNT))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("below", [1, 7, 300])
def test_indices_of_every_family_lie_within_what_they_point_into(family: object, below: int) -> None:
    place = FAMILIES.index(family)  # type: ignore[arg-type]  # parametrize has lost the type
    recipe = indices_recipe(1, min(below, 40), below, lambda lo, hi: min(place, hi) if hi < 0xFFFF else 12345)
    assert 0 <= recipe.values.min() <= recipe.values.max() <= below - 0.5

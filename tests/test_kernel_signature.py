"""The `__global__` functions of a source, as a claim's entries and args are held against them."""

import pytest

from kfuzz.claims.signature import entries_of, split_commas

SOURCE = """
// __global__ void commented(int n) {}
/* __global__ void also_commented(int n) {} */
const char *text = "__global__ void quoted(int n) {}";
__global__ void plain(float *y, const float *__restrict__ x, int n) { if (n) { y[0] = x[0]; } }
template <typename T, int N = 4>
__global__ void __launch_bounds__(32 * N, 2) bounded(T *y, const float4 *x, unsigned int n, long long m);
extern "C" __global__ void
spread(
    double y[],   // (n), not (n, m)
    size_t n) {}
__global__ void nothing() {}
__global__ void __attribute__((noinline)) halves(const half2 *x, __nv_bfloat16 *y, const uint8_t *z, struct Odd *o) {}
"""


def test_every_function_is_found_and_nothing_in_comments_or_strings() -> None:
    assert list(entries_of(SOURCE)) == ["plain", "bounded", "spread", "nothing", "halves"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", [(True, 4), (True, 4), (False, 4)]),
        ("bounded", [(True, None), (True, 4), (False, 4), (False, 8)]),
        ("spread", [(True, 8), (False, 8)]),
        ("nothing", []),
        ("halves", [(True, 2), (True, 2), (True, 1), (True, None)]),
    ],
)
def test_parameters_are_pointers_or_scalars_of_known_width(name: str, expected: list[tuple[bool, int | None]]) -> None:
    assert [(one.is_pointer, one.bytes) for one in entries_of(SOURCE)[name]] == expected


def test_commas_in_brackets_do_not_split() -> None:
    assert split_commas("ceil_div(a, b), c") == ("ceil_div(a, b)", "c")
    assert split_commas("Pair<int, 3> *p, int n") == ("Pair<int, 3> *p", "int n")
    assert split_commas("  ") == ()

"""The `__global__` functions of a source, compared with a claim's entries and args."""

from pathlib import Path

import pytest

from kfuzz.claims.language.signature import entries_of, host_functions_of, split_commas
from kfuzz.common.text.headers import SourceFile
from kfuzz.devices.cpu.translate import translate

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
    "source",
    [
        "__global__ void __launch_bounds__(T, blocks(T, 4 * (V + 2))) k(int n) {}",
        "__global__ __launch_bounds__((1 << 8)) void k(int n);",
        "__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(f((2)))\nk(int n);",
        "__global__ void C10_LAUNCH_BOUNDS_1(256) __cluster_dims__(2, 1, 1)\nk(int n) {}",
        "__global__ void\n#if defined(X)\n__launch_bounds__(256)\n#endif\nk(int n) {}",
        '__global__ [[deprecated("x")]] void k(int n);',
        "__global__ void k(int n) __attribute__((noinline));",
        "#define DONE noexcept\n__global__ void k(int n) DONE {}",
        "template <int N> __global__ std::enable_if_t<(N > 1), void> k(int n) {}",
        "template <int N> __global__ void k(int n) requires(N > 1) {}",
        "template __global__ void scale<4>(int); __global__ void k(int n) { if (n) return; }",
        "#define KERNEL __global__ \\\n void\nconstexpr int A = 3;\nKERNEL k(int n) {}",
        "#define DEF(name) __global__ void name(int n) {}\nDEF(other)\nvoid host(int n) {}\n__global__ void k(int n);",
    ],
)
def test_what_has_brackets_before_or_behind_is_not_the_name(source: str) -> None:
    assert [(name, len(parameters)) for name, parameters in entries_of(source).items()] == [("k", 1)]
    assert list(translate([SourceFile(Path("k.cu"), source)]).kernels) == ["k"]


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


def test_a_function_that_a_macro_defines_is_read() -> None:
    source = """
#define TWICE(name, type) \\
  __global__ void name##_kernel(type *y, const type *x, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[0]; } \\
  void name(type *y, const type *x, int n) { name##_kernel<<<1, 32>>>(y, x, n); }
#define WARP 32
TWICE(run, float)
void other(double *z) { *z = WARP; }
"""
    functions = host_functions_of(source)
    assert {name: [one.text for one in parameters] for name, parameters in functions.items()} == {
        "run": ["float *y", "const float *x", "int n"],
        "other": ["double *z"],
    }


def test_a_word_of_the_language_is_no_function() -> None:
    source = "template <int n> int run(int *y) { if constexpr (n > 1) { return 1; } else if (n) { return 2; } }"
    assert list(host_functions_of(source)) == ["run"]

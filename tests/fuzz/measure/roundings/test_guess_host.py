"""Claims for host functions: whole numbers are sizes in any order, and a size that no argument says is the least."""

from pathlib import Path

import pytest

from kfuzz.claims.language.roles import Roles
from kfuzz.claims.language.signature import host_functions_of
from kfuzz.measure.roundings.guess import guesses
from kfuzz.measure.roundings.guess_host import HostPairing, host_claims, orders
from kfuzz.measure.roundings.guess_narrow import GroupGuess, NarrowGuess
from kfuzz.measure.roundings.infer import numbers_by_name
from kfuzz.oracle.numbers.elements import F32

PRODUCTS = """__global__ void products(const float *a, const float *b, float *c, int M, int N, int K) {
  const float *from = a + blockIdx.x * M * K, *by = b + blockIdx.x * K * N;
  for (int at = threadIdx.x; at < M * N; at += blockDim.x) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += from[at / N * K + k] * by[k * N + at % N];
    c[blockIdx.x * M * N + at] = sum;
  }
}
void solve(const float *a, const float *b, float *c, int BATCH, int M, int N, int K) {
  products<<<BATCH, 128>>>(a, b, c, M, N, K);
}
"""
PROBLEM = """import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)
def get_inputs():
    return [torch.randn(3, 13, 20), torch.randn(3, 20, 16)]
def get_init_inputs():
    return []
"""
OF_THREE = Roles("copy", {"x": ("x_0", "x_1", "x_2")}, {"y": ("x_0", "x_1")}, False, rules=("x_2 >= 3",))


def pairings(roles: Roles, parameters: str) -> list[HostPairing]:
    (of_solve,) = host_functions_of(f"void solve({parameters}) {{ }}").values()
    return list(orders(roles, of_solve))


def test_whole_numbers_are_sizes_in_every_order_and_in_their_own_first() -> None:
    roles = Roles("copy", {"x": ("x_0", "x_1", "x_2")}, {"y": ("x_0",)}, False)
    found = [one.args[2:] for one in pairings(roles, "const float *x, float *y, int n, int h, int w")]
    assert found[0] == ["x_0", "x_1", "x_2"]
    assert len({*map(tuple, found)}) == len(found) == 6


def test_numbers_that_are_named_like_sizes_are_those_first() -> None:
    roles = Roles("sgemm", {"a": ("m", "k"), "b": ("k", "n")}, {"c": ("m", "n")}, False)
    found = pairings(roles, "const float *a, const float *b, float *c, int M, int N, int K")
    assert [one.args[3:] for one in found] == [["m", "n", "k"]]


def test_a_size_that_no_argument_says_is_the_least_that_the_op_takes() -> None:
    first, *_ = pairings(OF_THREE, "const float *x, float *y, int width, int height")
    assert (first.args[2:], first.pinned) == (["x_0", "x_1"], {"x_2": 3})


def test_a_function_that_launches_the_only_kernel_comes_after_it_but_not_beside_a_reference() -> None:
    source = "__global__ void row_sum(const float *x, float *y, int rows, int cols) {}\n"
    source += "void run(const float *x, float *y, int rows, int cols) { row_sum<<<rows, 32>>>(x, y, rows, cols); }\n"
    assert not list(host_claims("row_sum", source))
    last = [*guesses("row_sum", "mine.cu", source)][-1]
    assert all("[host]" in one for one in last.claims)


@pytest.mark.slow(40)
@pytest.mark.parametrize(("wrong", "status"), [("", "kept"), ("at < M * N - (M == 13)", "broken")])
def test_a_host_function_beside_a_reference_is_judged(tmp_path: Path, wrong: str, status: str) -> None:
    pytest.importorskip("torch")
    judging = pytest.importorskip("kfuzz")
    (tmp_path / "mine.cu").write_text(PRODUCTS.replace("at < M * N", wrong or "at < M * N"))
    (tmp_path / "problem.py").write_text(PROBLEM)
    found = judging.judge_file(tmp_path / "mine.cu", reference=tmp_path / "problem.py", sandbox=False)
    assert found.status == status


def test_half_of_a_size_is_written_as_the_claim_writes_it() -> None:
    roles = Roles("copy", {"x": ("x_0",)}, {"y": ("x_0 // 2",)}, False)
    assert NarrowGuess(F32, GroupGuess({}), "").shape_of(roles, roles.outputs["y"]) == "x_0 / 2"


@pytest.mark.parametrize(("names", "found"), [("lo hi", "lo hi"), ("low high", "low high"), ("least", "")])
def test_floats_get_the_numbers_of_a_reference_by_name_or_in_their_order(names: str, found: str) -> None:
    floats = ", ".join(f"float {one}" for one in names.split())
    source = f"void solve(const float *x, float *y, {floats}, int n) {{ }}"
    made = numbers_by_name(source, {"lo": "-0.5", "hi": "0.75"})
    assert made == dict(zip(found.split(), (("-0.5",), ("0.75",)), strict=False))

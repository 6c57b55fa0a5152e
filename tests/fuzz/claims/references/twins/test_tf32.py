"""Products whose operands a kernel rounds to TF32: right where its code does so, and an error where it does not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kfuzz.oracle.sets.reference_sets import Grade

torch = pytest.importorskip("torch")
twins = "kfuzz.claims.references.torch.twins"
as_arrays = pytest.importorskip(f"{twins}.as_arrays")
sets = pytest.importorskip(f"{twins}.sets")
tf32 = pytest.importorskip(f"{twins}.tf32")
three_runs = pytest.importorskip(f"{twins}.three_runs")
F = torch.nn.functional
CUT = tf32.CutWay.TO_ZERO


def in_tf32(x: Any, way: Any = CUT) -> Any:  # noqa: ANN401
    return tf32.in_tf32(x.double(), way).float()


def worst(function: Callable[..., Any], given: list[Any], got: Any, is_tf32: bool = True) -> Grade:  # noqa: ANN401
    """The worst grade of an answer to a reference."""
    answered = three_runs.Answered(function, given, __file__, is_tf32=is_tf32)
    made = as_arrays.grade_answer(as_arrays.reference_sets(answered), [got])
    assert not isinstance(made, str)
    return Grade(max(int(one.max()) for one in made))


def product(a: Any, b: Any) -> Any:  # noqa: ANN401
    return a @ b


def attention(q: Any, k: Any, v: Any) -> Any:  # noqa: ANN401
    return (q @ k.T * 0.125).softmax(-1) @ v


def recurrent(x: Any, w: Any, h: Any, cut: Callable[[Any], Any] = lambda one: one) -> Any:  # noqa: ANN401
    for row in x:
        h = torch.tanh(row + cut(h) @ cut(w))
    return h


def convolved(x: Any, w: Any, b: Any) -> Any:  # noqa: ANN401
    return F.conv2d(x, w, b, padding=1)


def flash(q: Any, k: Any, v: Any, is_scaled_first: bool) -> Any:  # noqa: ANN401
    """Attention as kernels compute it: in base 2, with shares that are divided in the end."""
    scale = 0.125 * 1.44269504
    s = in_tf32(q * scale) @ in_tf32(k).T if is_scaled_first else in_tf32(q) @ in_tf32(k).T * scale
    p = torch.exp2(s - s.amax(-1, keepdim=True))
    return in_tf32(p) @ in_tf32(v) / p.sum(-1, keepdim=True)


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    torch.manual_seed(1)
    return [torch.randn(shape) for shape in shapes]


def test_numbers_are_those_of_tf32() -> None:
    """By bits: the last 13 are ignored, or rounded with ties away from 0 or to even; NaN and infinities stay."""
    torch.manual_seed(1)
    x = (torch.randn(20_000) * torch.exp(20 * torch.randn(20_000))).float()
    edges = [0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-40, -1e-44, 3.4e38, -3.4028235e38]
    x = torch.cat([x, torch.tensor([*edges, 1 + 2**-11, 1 + 3 * 2**-11, 2**-126, 2**-149])])
    bits = x.view(torch.int32)
    for way, more in ((CUT, 0), (tf32.CutWay.AWAY, 0x1000), (tf32.CutWay.TO_EVEN, 0xFFF + (bits >> 13 & 1))):
        wanted = torch.where(x.isfinite(), bits + more & ~0x1FFF, bits).view(torch.float32)
        made = tf32.in_tf32(x.double(), way)
        assert bool(((made == wanted.double()) | (made.isnan() & wanted.isnan())).all()), way


@pytest.mark.parametrize("way", tf32.KNOWN_WAYS)
def test_a_product_in_tf32_is_right_where_the_code_has_such_and_only_there(way: Any) -> None:  # noqa: ANN401
    a, b = given = drawn((40, 70), (70, 30))
    got = in_tf32(a, way) @ in_tf32(b, way)
    assert worst(product, given, got) == Grade.KEPT
    assert worst(product, given, got, is_tf32=False) == Grade.BROKEN
    assert worst(product, given, a @ b) == Grade.KEPT  # a product in float32 is no worse


def test_other_errors_are_found_beside_tf32() -> None:
    a, b = given = drawn((40, 70), (70, 30))
    cut, other = in_tf32(a) @ in_tf32(b), in_tf32(a, tf32.CutWay.AWAY)
    assert worst(product, given, in_tf32(a[:, :48]) @ in_tf32(b[:48])) == Grade.BROKEN  # without the last block of k
    assert worst(product, given, cut * 1.01) == Grade.BROKEN
    assert worst(product, given, cut * 1.001) == Grade.SUSPECT
    assert worst(product, given, other @ in_tf32(b)) == Grade.SUSPECT  # each operand in a way of its own
    bf16 = a.bfloat16().float() @ b.bfloat16().float()
    assert worst(product, given, bf16) >= Grade.SUSPECT


def test_attention_in_tf32_is_right_wherever_its_scale_is_multiplied_in() -> None:
    q, k, v = given = drawn((16, 64), (24, 64), (24, 32))
    for is_scaled_first in (False, True):
        got = flash(q, k, v, is_scaled_first)
        assert worst(attention, given, got) == Grade.KEPT
        assert worst(attention, given, got, is_tf32=False) == Grade.BROKEN
    assert worst(attention, given, flash(q, k[:-4], v[:-4], False)) == Grade.BROKEN


def test_a_network_with_a_memory_and_a_convolution_in_tf32_are_right() -> None:
    x, w, h = given = drawn((6, 8, 32), (32, 32), (8, 32))
    got = recurrent(x, w / 5, h, in_tf32)
    given[1] = w / 5
    assert worst(recurrent, given, got) == Grade.KEPT
    assert worst(recurrent, given, got, is_tf32=False) > Grade.KEPT
    assert worst(recurrent, given, recurrent(x.flip(0), w / 5, h, in_tf32)) == Grade.BROKEN
    x, w, b = given = drawn((2, 5, 9, 9), (7, 5, 3, 3), (7,))
    assert worst(convolved, given, convolved(in_tf32(x), in_tf32(w), b)) == Grade.KEPT
    assert worst(convolved, given, convolved(in_tf32(x), in_tf32(w), b), is_tf32=False) == Grade.BROKEN
    assert worst(convolved, given, convolved(in_tf32(x), in_tf32(w), None)) == Grade.BROKEN


def test_a_product_of_which_torch_adds_one_term_alone_is_one_in_tf32() -> None:
    """einsum then multiplies single numbers, and a kernel's tl.dot does not: a network was broken at one unit."""
    h, w = given = drawn((5, 1), (1, 7))
    got = in_tf32(h) @ in_tf32(w)
    for function in (lambda h, w: torch.einsum("bk,kn->bn", h, w), lambda h, w: torch.outer(h[:, 0], w[0])):
        assert worst(function, given, got) == Grade.KEPT
        assert worst(function, given, got, is_tf32=False) == Grade.BROKEN
        assert worst(function, given, got * 1.01) == Grade.BROKEN


def test_products_that_a_reference_adds_by_hand_are_no_errors_in_tf32() -> None:
    """They are suspect: nothing says that they are a product of matrices."""
    a, b = given = drawn((6, 20), (20, 5))
    got = in_tf32(a) @ in_tf32(b)

    def by_hand(a: Any, b: Any) -> Any:  # noqa: ANN401
        return (a[:, :, None] * b).sum(1)

    assert worst(by_hand, given, got) == Grade.SUSPECT
    assert worst(by_hand, given, got, is_tf32=False) == Grade.BROKEN
    assert worst(by_hand, given, in_tf32(a[:, :16]) @ in_tf32(b[:16])) == Grade.BROKEN
    assert worst(by_hand, given, a @ b) == Grade.KEPT


def test_what_tf32_does_not_hold_may_be_anything_and_numbers_that_it_holds_stay_exact() -> None:
    most = torch.finfo(torch.float32).max
    x = torch.tensor([most, -most, 1.5, torch.inf], dtype=torch.float64)
    for way in (*tf32.KNOWN_WAYS, tf32.CutWay.ANY):
        made = tf32.cut(sets.NumberSet(x, None, torch.float32), way)
        is_cut_off = way is CUT
        assert made.radius.isinf().tolist() == [not is_cut_off] * 2 + [False, False], way
        assert made.number[2:].tolist() == [1.5, torch.inf]
        assert made.radius[2:].tolist() == [0.0, 0.0]


def test_both_ends_of_a_set_are_rounded() -> None:
    """A number that is known to 2^-12 of itself may be one of two numbers of TF32."""
    one = sets.NumberSet(torch.tensor([1 + 2.0**-10], dtype=torch.float64), torch.tensor([2.0**-12]), torch.float32)
    made = tf32.cut(one, CUT)
    assert (float(made.number), float(made.radius)) == (1 + 2.0**-10, 2.0**-10)
    assert float(tf32.cut(one, tf32.CutWay.TO_EVEN).radius) == 0.0


def test_a_product_of_16_bits_has_no_other_set() -> None:
    a, b = given = [one.bfloat16() for one in drawn((8, 16), (16, 8))]
    plain, cut = (
        as_arrays.reference_sets(three_runs.Answered(product, given, __file__, is_tf32=is_tf32))[0]
        for is_tf32 in (False, True)
    )
    assert np.array_equal(plain.proved, cut.proved)
    assert np.array_equal(plain.loosest, cut.loosest)
    assert (a @ b).dtype == torch.bfloat16

"""einsum: the op of a subscript."""

import numpy as np
import pytest

from kfuzz.oracle import Accuracy, OracleError, judge
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.op.names import names_of

RNG = np.random.default_rng(36)
SIZES = dict(zip("abcdehijklmoqABCDE", (2, 3, 4, 5, 6, 2, 3, 4, 5, 3, 2, 3, 4, 2, 3, 4, 5, 6), strict=True))
SUBSCRIPTS = (
    "ik,kj->ij", "bik,bkj->bij", "bhqd,bhkd->bhqk", "ijb,kj->bki", "ij->ji", "ij->i", "ij->", "i,j->ji", "i,i->",
    "ij,kj->k", "ij,k->j", "bi,oij,bj->bo", "ijk,jl,kl->il", "ab,bc,cd,de->ae", "AB,BC->CA",
)  # fmt: skip


def arrays(subscript: str) -> dict[str, np.ndarray]:
    """Normal numbers for each operand."""
    operands = subscript.partition("->")[0].split(",")
    made = [RNG.standard_normal([SIZES[one] for one in letters]).astype("f4") for letters in operands]
    return dict(zip("abcd", made, strict=False))


@pytest.mark.parametrize("subscript", SUBSCRIPTS)
def test_a_subscript_is_an_op_that_agrees_with_numpys_einsum(subscript: str) -> None:
    op, given = find(f"einsum({subscript})"), arrays(subscript)
    exact = np.einsum(subscript, *(one.astype("f8") for one in given.values()))
    np.testing.assert_allclose(op.compute(given, {})["y"].reshape(exact.shape), exact, rtol=1e-12, atol=1e-13)
    for optimize in (False, "greedy"):
        y = np.einsum(subscript, *given.values(), optimize=optimize).reshape(exact.shape or 1)
        assert judge(op.name, given, {"y": y}).status == "kept"
    wrong = y.copy()
    wrong.flat[-1] += 1e-3 * (1 + abs(wrong.flat[-1]))
    assert judge(op.name, given, {"y": wrong}).status == "broken"


@pytest.mark.parametrize(("order", "sums"), [("a (b c)", ("bc", "sum")), ("(a c) b", ("sum",)), ("at once", ("sum",))])
def test_a_form_of_three_operands_names_its_own_sums(order: str, sums: tuple[str, ...]) -> None:
    subscript = "ij,jk,kl->il"
    given, op = arrays(subscript), find(f"einsum({subscript})")
    assert {*sums} <= {*names_of(op).sums}
    y = np.einsum(subscript, *(one.astype("f8") for one in given.values())).astype("f4")
    assert judge(op.name, given, {"y": y}, Accuracy(form=order, adds=dict.fromkeys(sums, 60))).status == "kept"


def test_an_order_that_does_not_overflow_is_judged() -> None:
    given = {name: np.float32([[one]]) for name, one in (("a", 1e30), ("b", 1e30), ("c", 1e-30))}
    answer = {"y": np.float32([[np.inf]])}
    assert judge("einsum(ij,jk,kl->il)", given, answer, Accuracy(form="a (b c)")).status == "broken"
    assert judge("einsum(ij,jk,kl->il)", given, answer, Accuracy(form="(a b) c")).status == "not judged"


@pytest.mark.parametrize(
    "text", ["einsum(ii->i)", "einsum(ij,jk)", "einsum(ij->k)", "einsum(a,b,c,d,e->a)", "einsum(...i->i)", "einsum(a)"]
)
def test_a_subscript_that_is_no_op_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(OracleError, match=r"write it as einsum\(ik,kj->ij\)"):
        find(text)

"""route: the permutation that puts tokens in the order of their experts, its inverse, and where each expert begins.

`order[i]` is the token in slot i; `slot[t]` is the slot of token t; the tokens of expert e lie in the slots from
`offsets[e]` to below `offsets[e + 1]`. Tokens of one expert may come in any order, each once; with `ties = "first"`
they keep their order, and with `"last"` it is reversed. `slot` must be the inverse of `order` as it was written.
"""

import numpy as np

from kfuzz.oracle.numbers.elements import Reals
from kfuzz.oracle.numbers.enclosure import Doubles, Enclosure
from kfuzz.oracle.op.answer_sets import AnswerSet, Asked
from kfuzz.oracle.sets.ranks import Ranking, enclose_places
from kfuzz.oracle.sets.sampling import refuse_balls
from kfuzz.oracle.systems.exact import Exact
from kfuzz.oracle.systems.value import Quantity

INPUTS = {"expert": "int[n] < experts"}
OUTPUTS = {"order": "int[n]", "slot": "int[n]", "offsets": "int[experts + 1]"}
AXES = {"experts": 8}


def formula(N: Exact, expert: Reals) -> dict[str, Quantity]:
    order = np.argsort(expert, kind="stable")
    begins = np.searchsorted(np.sort(expert), np.arange(N.size("experts") + 1))
    return {"order": N.value(order), "slot": N.value(np.argsort(order)), "offsets": N.value(begins)}


def sets(asked: Asked) -> dict[str, AnswerSet]:
    """Each slot holds a token of its expert, no token lies in two slots, and `slot` is the inverse of `order`."""
    expert = asked.inputs["expert"].astype(np.float32)
    found = {
        name: one.x.astype(np.float64) for name, one in formula(Exact(asked.sizes), asked.inputs["expert"]).items()
    }
    places = enclose_places(Ranking.ascending("route", expert[None], asked.special, ftz=False))
    written = asked.written["order"] if "order" in asked.written else found["order"]
    inverse = np.full(len(expert), np.nan)
    inside = (written >= 0) & (written < len(expert)) & (written == np.floor(written))
    inverse[written[inside].astype(np.int64)] = np.flatnonzero(inside)
    return {"order": AnswerSet(first_row(places)), "slot": exactly(inverse), "offsets": exactly(found["offsets"])}


def first_row(many: Enclosure) -> Enclosure:
    """The only row of an enclosure by itself."""
    holds = many.holds
    assert holds is not None, "places are sets"
    none = np.zeros(many.want.shape[1])
    parts = (many.want[0], many.lo[0], many.hi[0], many.judged[0], none, none)
    return Enclosure(*parts, refuse_balls, None, many.reasons, holds=lambda got: holds(got[None])[0])


def exactly(want: Doubles) -> AnswerSet:
    """One right answer for each element; any where it is NaN, because another output is wrong there."""
    none, known = np.zeros(want.shape), ~np.isnan(want)
    want = np.where(known, want, 0.0)
    return AnswerSet(Enclosure(want, want, want, known, none, none, refuse_balls, None, holds=lambda got: got == want))

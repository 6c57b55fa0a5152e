"""Three runs of one table of rules: what a reference proves, what any arrangement may give, and what was measured.

Knows how to run a reference; it knows no grade. Long, since the sets are made of what all the runs leave.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product, zip_longest
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, DrawsError
from kfuzz.claims.references.torch.storage import key_of
from kfuzz.claims.references.torch.twins.leaves import GivenInputs, Leaf, answer_of, call_with, fresh, tensors_among
from kfuzz.claims.references.torch.twins.leaving import WatchedLeaving
from kfuzz.claims.references.torch.twins.run import LOOSE, RunNotes, RunOptions, StepNoise, StoredWay, TwinRun
from kfuzz.claims.references.torch.twins.sets import (
    SINGLE,
    TINY,
    UNITS,
    NumberSet,
    Ranked,
    RowShares,
    UnstableError,
    numbers_of,
)
from kfuzz.claims.references.torch.twins.tf32 import KNOWN_WAYS, UNIT, CutWay
from kfuzz.devices.python.raising import words_of
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.sets.reference_sets import ReferenceSet

HEAVY_RUNS, FULL_RUNS = 5, 2
"""Three of five numbers of Cauchy's law are below 1 / 128 of their median once in a million times."""
SMALL = 2.0**-10
"""The scale of the random numbers of a heavy run: what follows is nearly linear in them."""
WIDE = 2.0**15
"""So many units of a number, or of a part of the largest one, say little."""
MOST_MEASURED = 4000
"""Of a reference of more operations no set is narrowed by what was measured: that takes seven more runs."""
MANY_SPREADS = 64.0
"""An answer so many measured spreads away is suspect where something was measured and not proved."""
FEW_PRODUCTS = 2
"""Of so many products with wide operands each may store them or not; with more, a set is the hull of two forms."""
TWICE = 2.0
"""An answer of torch that lies outside widens the set to so many times its distance."""


@contextmanager
def without_mkldnn() -> Iterator[None]:
    """Let torch choose none of the operations that take no float64."""
    was = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(was)


class DisagreementError(Exception):
    """Two number systems give different sets: by what kfuzz knows of torch, the reference computes something else."""


class UnfollowedError(Exception):
    """A reference runs, and not with twins: its tensors lie in memory as twins do not, such as sparse ones."""


@dataclass(frozen=True, eq=False)
class OutputSet:
    """One output. `like`: torch's own answer. `proved`, `loosest`: radii around `x`. `joint`: of an output of places,
    what each of them has to hold; of shares, that they make up one. `forms`: narrower sets of which a right answer is
    in one.
    """

    name: str
    like: Any
    x: torch.Tensor
    proved: torch.Tensor
    loosest: torch.Tensor
    joint: Ranked | RowShares | None = None
    forms: Sequence[tuple[torch.Tensor, torch.Tensor]] = ()

    @property
    def places(self) -> Ranked | None:
        return self.joint if isinstance(self.joint, Ranked) else None


def hull(forms: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """The radius around the first of some sets that holds them all."""
    (x, r), *rest = forms
    for other, its in rest:
        r = torch.maximum(r, (other - x).abs().nan_to_num(0) + its)
    return r


def joint_in(run: TwinRun, one: torch.Tensor) -> Ranked | RowShares | None:
    """What the numbers of an output have to be together."""
    joint = run.joint.get(key_of(one))
    joint = joint if isinstance(joint, RowShares) else run.joint_of(one)
    return joint if isinstance(joint, Ranked | RowShares) else None


def outside_of(
    got: torch.Tensor, x: torch.Tensor, radii: Sequence[torch.Tensor], dtype: torch.dtype
) -> list[torch.Tensor]:
    """Which numbers of an answer lie beyond each of these radii, as it is graded; infinities and NaNs do not."""
    held = ReferenceSet(x.numpy(), *(one.numpy() for one in radii))
    finite = (got - x).isfinite().numpy()
    return [torch.as_tensor(held.is_outside(got.numpy(), r.numpy(), OF_TYPE.get(dtype)) & finite) for r in radii]


def is_other_odd(got: torch.Tensor, one: OutputSet, dtype: torch.dtype) -> torch.Tensor:
    """Where an answer has an infinity or a NaN that is not in a set, or a number where a set has one of these."""
    held = ReferenceSet(one.x.numpy(), one.proved.numpy(), one.proved.numpy())
    odd = ~(got - one.x).isfinite()
    return torch.as_tensor(held.is_outside(got.numpy(), held.proved, OF_TYPE.get(dtype))) & odd


def numbers_as_dense(one: Any) -> torch.Tensor:  # noqa: ANN401  a tensor or a number
    """The numbers of an output, which may be sparse."""
    held = torch.as_tensor(one).detach()
    return numbers_of(held if held.layout == torch.strided else held.to_dense())


def distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """How far numbers are from others; 0 of those that are equal or NaN in both."""
    same = (one == other) | (one.isnan() & other.isnan())
    wide = [each if each.is_complex() else each.double() for each in (one, other)]
    return torch.where(same, 0.0, (wide[0] - wide[1]).abs().nan_to_num(torch.inf))


@dataclass(eq=False)
class Answered:
    """A reference at one set of inputs."""

    function: Callable[..., Any]
    given: GivenInputs
    file: str = ""
    kernel_type: torch.dtype | None = None
    """The type of 16 bits that a kernel's arrays have, where the reference's own are wider."""
    changed: Collection[int] | None = None
    """The places of the inputs that a call changes; None if it is to be seen."""
    is_measured: bool = False
    """It does not run with twins, or these disagree: its sets are measured."""
    is_tf32: bool = False
    """The kernel's code rounds operands of float32 products to TF32."""
    adds_8_bits: bool = False
    """The kernel's code adds products of 8 bits by wgmma."""
    widened: list[str] = field(default_factory=list)
    """The outputs of which torch's own answer lies outside what is proved."""

    @cached_property
    def kind(self) -> torch.dtype | None:
        """The type of 16 bits that inputs have: operands of products may be stored in it."""
        every = {one.dtype for one in tensors_among(self.given)} | {self.kernel_type}
        kinds = every & {torch.bfloat16, torch.float16}
        return max(kinds, key=UNITS.__getitem__, default=None)

    def run(
        self,
        prepare: Callable[[TwinRun, GivenInputs], None] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> tuple[TwinRun, list[tuple[str, Any, NumberSet]]]:
        """Run the reference with twins: each output, and its set. `prepare`: what changes the inputs' sets before."""
        run = TwinRun(self.file, RunOptions(narrow=self.kind, is_tf32=self.is_tf32, **options))
        given = fresh(self.given)
        if prepare is not None:
            prepare(run, given)
        try:
            watched = run.products if self.is_tf32 else nullcontext()
            with without_mkldnn(), run, WatchedLeaving(run.note_leaving), watched:
                made = call_with(self.function, given, self.changed)
            with torch.no_grad():
                return run, [(name, one, run.set_of(one)) for name, one in made]
        except (UnstableError, CannotError):
            raise
        except Exception as error:  # of their code, as `own` then raises it, or of an operation that takes no twins
            assert self.own
            raise UnfollowedError(words_of(error)) from error

    @cached_property
    def strict(self) -> tuple[TwinRun, list[tuple[str, Any, NumberSet]]]:
        return self.run()

    @cached_property
    def notes(self) -> RunNotes:
        return self.strict[0].notes

    @cached_property
    def own(self) -> list[Leaf]:
        """torch's own answer."""
        return answer_of(self.function, fresh(self.given), self.changed)

    def check_repeats(self) -> None:
        """Raise a DrawsError if answers follow from numbers that are drawn in a call, or another call has other answers
        where something is known: memory may be left unset.
        """
        if not self.is_measured:
            self.check_draws()
        again = call_with(self.function, fresh(self.given), self.changed)
        held = [] if self.is_measured else [one for _, _, one in self.strict[1]]
        for (_, one), (_, other), known in zip_longest(self.own, again, held):
            a, b = (numbers_as_dense(made) for made in (one, other))
            is_known = torch.tensor(True) if known is None else known.radius.isfinite()
            if a.shape != b.shape or bool(((a != b) & ~(a.isnan() & b.isnan()) & is_known).any()):
                raise DrawsError("outside of torch")

    def check_draws(self) -> None:
        """Raise a DrawsError if a number of an answer follows from numbers that the call draws."""
        if self.notes.drawn and self.follows_from_draws:
            raise self.notes.drawn[0]

    @cached_property
    def stored(self) -> list[Mapping[int, StoredWay]]:
        """Which products store their operands in 16 bits, and how: each or none of a few, else all of them."""
        wide = self.notes.wide_products
        if len(wide) > FEW_PRODUCTS:
            return [dict.fromkeys(range(len(wide)), StoredWay.DIVIDED)]
        ways = [[None, StoredWay.DIVIDED, *[StoredWay.UNDIVIDED] * has_shares] for _, has_shares in wide]
        every = [{number: way for number, way in enumerate(one) if way is not None} for one in product(*ways)]
        return [one for one in every if one]

    @cached_property
    def kept(self) -> Collection[str]:
        """The products with wide operands whose results are no outputs: another kernel may have stored them in 16 bits
        before, as the answer of a forward function whose gradients the reference computes.
        """
        run, made = self.strict
        returned = {key_of(one) for _, one, _ in made if isinstance(one, torch.Tensor)}
        return [place for place, keys in run.notes.results.items() if not keys & returned]

    def stored_everywhere(self, way: StoredWay) -> Mapping[int, StoredWay]:
        """All products store their operands in one way."""
        return dict.fromkeys(range(len(self.notes.wide_products)), way)

    @cached_property
    def stored_otherwise(self) -> list[Mapping[str, Any]]:
        """The options of runs in which results are kept, too, or operands lie in float16 beside inputs in bfloat16: a
        number of more digits and fewer powers of two, which may be infinite or 0 there.
        """
        every: list[Mapping[str, Any]] = []
        if self.kind == torch.bfloat16 and self.stored:
            has_shares = any(its for _, its in self.notes.wide_products)
            ways = [StoredWay.DIVIDED, *[StoredWay.UNDIVIDED] * has_shares]
            every += [{"in_half": True, "stored": self.stored_everywhere(way)} for way in ways]
        if self.kept:
            every += [{"kept": self.kept, "stored": one} for one in ({}, self.stored_everywhere(StoredWay.DIVIDED))]
        return every

    @property
    def cut(self) -> list[Mapping[str, Any]]:
        """The options of runs whose operands are rounded to TF32: of several products any way is right, since some
        may be made in float32, and factors be multiplied in before.
        """
        ways = KNOWN_WAYS if len(self.notes.float_products) == 1 else (CutWay.ANY,)
        return [{"cut": one} for one in ways] if self.notes.float_products else []

    @property
    def plain_ways(self) -> list[Mapping[str, Any]]:
        """The options of runs that store operands in 16 bits."""
        return [*({"stored": one} for one in self.stored), *self.stored_otherwise]

    @property
    def ways_of_units(self) -> list[Mapping[str, Any]]:
        """The options of runs whose products are made as tensor cores make those of TF32 and of 8 bits."""
        return [*({**one, "adds_8_bits": True} for one in [{}, *self.plain_ways] if self.adds_8_bits), *self.cut]

    @property
    def has_few_products(self) -> bool:
        """Whether each number of a right answer lies in one of the forms, and not only between them."""
        wide, cut = len(self.notes.wide_products), len(self.notes.float_products)
        return wide + cut > 0 and wide <= FEW_PRODUCTS and cut <= 1

    @cached_property
    def forms(self) -> list[list[NumberSet]]:
        """The outputs' sets, with no product's operands stored in 16 bits or in TF32, and with some."""
        every = [self.strict, *(self.run(**one) for one in [*self.plain_ways, *self.ways_of_units])]
        return [[one for _, _, one in made] for _, made in every]

    @cached_property
    def proved(self) -> list[torch.Tensor]:
        """The radius of each output around that of the first form, wherever operands are stored in 16 bits or not."""
        return [hull([(one.number, one.radius) for one in every]) for every in zip(*self.forms, strict=True)]

    @cached_property
    def sets(self) -> list[OutputSet]:
        """The sets of each output, in which torch's own answer lies."""
        self.check_draws()
        run, made = self.strict
        loosely, loose = self.run(is_loose=True, adds_8_bits=self.adds_8_bits)
        found = []
        is_open = bool(run.notes.measured) or bool(run.notes.left)
        measured = self.spread if is_open else [torch.zeros(())] * len(made)
        every = zip(made, loose, self.proved, zip(*self.forms, strict=True), measured, self.own, strict=True)
        for place, ((name, like, one), (_, also, other), proved, forms, spread, (_, own)) in enumerate(every):
            units = len(self.ways_of_units)
            is_plain = [not is_open] * (len(forms) - units) + [False] * units
            union = [
                (it.number, self.narrowed(it, place) if plain else it.radius)
                for it, plain in zip(forms, is_plain, strict=True)
            ]
            r = hull(union) + MANY_SPREADS * spread
            if one.x.shape != other.x.shape:
                raise UnstableError(f"{name}: its shape goes by roundings")
            loosest = torch.maximum(other.radius + (other.number - one.number).abs().nan_to_num(0), proved)
            joint = joint_in(loosely, also) if isinstance(also, torch.Tensor) else None
            some = union if self.has_few_products and not is_open else []
            widest = torch.full_like(r, torch.inf) if is_open else loosest
            found.append(self.with_own(OutputSet(name, like, one.x, r, widest, joint, some), own, loosest))
        return found

    @property
    def values(self) -> list[OutputSet]:
        """The exact values of each output alone, for which one run is enough."""
        self.check_draws()
        found = []
        for name, like, one in self.strict[1]:
            nothing = torch.zeros(one.x.shape, dtype=torch.float64)
            found.append(OutputSet(name, like, one.x, nothing, nothing))
        return found

    @property
    def means_first(self) -> bool:
        """Whether an output names the first place of equal numbers."""
        run, made = self.strict
        joint = [run.joint.get(key_of(one)) for _, one, _ in made if isinstance(one, torch.Tensor)]
        return any(isinstance(one, Ranked) and one.is_first for one in joint)

    @property
    def follows_from_draws(self) -> bool:
        """Whether a number is unknown since others were drawn: one may be unknown for its size, too."""
        made = self.strict[1]
        if not any(bool(one.radius.isinf().any()) for _, _, one in made):
            return False
        known = self.run(trusts_draws=True)[1]
        return any(
            bool((one.radius.isinf() & ~other.radius.isinf()).any())
            for (_, _, one), (_, _, other) in zip(made, known, strict=True)
        )

    def narrowed(self, one: NumberSet, place: int) -> torch.Tensor:
        """A radius that has grown over many steps, no larger than many measured spreads: what is beyond is suspect."""
        r = one.radius
        size = one.size.nan_to_num(0, posinf=0)
        if one.dtype not in UNITS or not size.numel() or self.notes.jumps:
            return r
        is_wide = r.isfinite() & (r > WIDE * SINGLE * (size + SMALL * size.max()))
        if not bool(is_wide.any()) or self.notes.count > MOST_MEASURED:
            return r
        limit = MANY_SPREADS * (self.spread[place] + TINY) + 2 * UNITS[one.dtype] * size
        return torch.where(is_wide, torch.minimum(r, limit), r)

    def check_agrees(self) -> None:
        """Raise a DisagreementError unless numbers that each move by their step's error stay within the radii."""
        _, moved = self.run(noise=StepNoise(torch.Generator().manual_seed(1)))
        for (name, _, one), r, (_, _, other) in zip(self.strict[1], self.proved, moved, strict=True):
            if one.x.shape != other.x.shape or one.dtype not in UNITS:
                continue
            away = (other.number - one.number).abs()
            beyond = (away > r * (1 + SMALL) + TINY) & away.isfinite()
            if bool(beyond.any()):
                far, place = float(away[beyond].max()), beyond.nonzero()[0].tolist()
                raise DisagreementError(
                    f"{name}{place} moves by {far}, and no further than {float(r[beyond].max())} by its rule"
                )

    @property
    def open_sets(self) -> list[OutputSet]:
        """torch's own answer, of which nothing is known: where rounding decides which numbers there are at all."""
        found = []
        for name, one in self.own:
            x = numbers_of(one.detach()) if isinstance(one, torch.Tensor) else torch.tensor(one)
            r = torch.full(x.shape, torch.inf, dtype=torch.float64)
            found.append(OutputSet(name, one, x, r, r))
        return found

    @property
    def measured_sets(self) -> list[OutputSet]:
        """torch's own answer, and how far it moves where the inputs move by some units: the ground of a warning."""
        units = {kind: max(u, UNIT if self.is_tf32 else 0.0) for kind, u in UNITS.items()}
        every, generator = [numbers_as_dense(one) for _, one in self.own], torch.Generator().manual_seed(1)
        away = [torch.zeros(one.shape, dtype=torch.float64) for one in every]

        def moved(one: torch.Tensor) -> torch.Tensor:
            if one.dtype not in UNITS or one.layout != torch.strided:
                return one
            signs = 2 * torch.randint(0, 2, one.shape, generator=generator) - 1
            made = (one.detach() * (1 + LOOSE * units[one.dtype] * signs)).to(one.dtype)
            return made.requires_grad_(one.requires_grad)

        for _ in range(HEAVY_RUNS):
            given = [moved(one) if isinstance(one, torch.Tensor) else one for one in fresh(self.given)]
            made = [numbers_as_dense(one) for _, one in call_with(self.function, given, self.changed)]
            if [one.shape for one in made] != [one.shape for one in every]:
                raise UnstableError("its shapes go by roundings")
            away = [torch.maximum(old, distance(a, b)) for old, a, b in zip(away, made, every, strict=True)]
        found = []
        for (name, one), x, r in zip(self.own, every, away, strict=True):
            kind = getattr(one, "dtype", torch.float64 if isinstance(one, float) else torch.int64)
            lost = r if kind not in UNITS else MANY_SPREADS * (r + units[kind] * x.abs().nan_to_num(0, posinf=0))
            found.append(OutputSet(name, one, x, lost, torch.full_like(lost, torch.inf)))
        return found

    def with_own(self, one: OutputSet, own: Any, loosest: torch.Tensor) -> OutputSet:  # noqa: ANN401
        """The same set, with torch's own answer in it. What lies far outside of any arrangement is an error of ours."""
        if not isinstance(own, torch.Tensor) or own.dtype not in UNITS or own.is_complex():
            return one
        x, got = one.x.double(), numbers_of(own.detach())
        lost = [outside_of(got, its, (r, r), own.dtype)[0] for its, r in one.forms]
        if lost and bool(torch.stack(lost).all(0).any()):
            one = replace(one, forms=())
        if bool((other := is_other_odd(got, replace(one, x=x), own.dtype)).any()):
            proved, widest = (torch.where(other, torch.inf, r) for r in (one.proved, one.loosest))
            one = replace(one, proved=proved, loosest=widest)
        away = (got - x).abs()
        outside, beyond = outside_of(got, x, (one.proved, loosest), own.dtype)
        if bool(beyond.any()):
            place = tuple(int(i) for i in beyond.nonzero()[0])
            raise DisagreementError(
                f"{one.name}{list(place)}: torch gives {float(got[place])}, the run of its twins {float(x[place])} and "
                f"no more than {float(loosest[place])} beside it"
            )
        if not bool(outside.any()):
            return one
        relative = float((TWICE * away / x.abs().clamp(min=1e-300))[outside].max())
        self.widened.append(
            f"{one.name}: torch errs by {relative / TWICE / SINGLE:.1f} units at {int(outside.sum())} places"
        )
        wide = torch.maximum(one.proved, torch.where(outside, TWICE * away, 0.0))
        if relative < 1e-4:
            wide = torch.maximum(wide, relative * x.abs().nan_to_num(0, posinf=0))
        return OutputSet(one.name, one.like, one.x, wide, torch.maximum(one.loosest, wide), one.joint)

    @cached_property
    def spread(self) -> list[torch.Tensor]:
        """How far each element moves where every step moves by its own error; infinite if no run can be compared."""
        made = self.forms[0]
        heavy: list[list[torch.Tensor]] = [[] for _ in made]
        jumps = [torch.zeros(one.x.shape, dtype=torch.float64) for one in made]
        for number in range(HEAVY_RUNS + FULL_RUNS):
            is_heavy = number < HEAVY_RUNS
            noise = StepNoise(torch.Generator().manual_seed(number), SMALL if is_heavy else 1.0, is_heavy)
            try:
                _, moved = self.run(noise=noise)
            except UnstableError:
                continue
            if any(a.x.shape != b.x.shape for (_, _, a), b in zip(moved, made, strict=True)):
                continue
            for place, ((_, _, one), at) in enumerate(zip(moved, made, strict=True)):
                away = (one.number - at.number).abs().nan_to_num(0)
                if is_heavy:
                    heavy[place].append(away / SMALL)
                else:
                    jumps[place] = torch.maximum(jumps[place], away)
        if not heavy or not heavy[0]:
            return [torch.full(one.x.shape, torch.inf, dtype=torch.float64) for one in made]
        return [
            torch.maximum(2 * torch.stack(one).median(0).values, jump) for one, jump in zip(heavy, jumps, strict=True)
        ]

"""The table of rules: by the name of an operation, what it does to values and radii.

A family is a file in `rules/` with `RULES`; adding one edits nothing else. Knows no rule.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import torch

from kfuzz.claims.references.torch.storage import flat, tensors_in
from kfuzz.claims.references.torch.twins import rules
from kfuzz.claims.references.torch.twins.sets import NumberSet, StepResult, sets_in, wide_type


class Roundings(Protocol):
    """How a kernel may round in one run. `is_loose`: it may compute the same by any arrangement."""

    is_loose: bool

    @property
    def fine(self) -> float:
        """The unit of a step within an operation, which float32 makes whatever the operands' type."""

    @property
    def fine_in_product(self) -> float:
        """The unit of a step within the product whose operands were asked for last."""

    @property
    def adds_8_bits(self) -> bool:
        """Whether products may be of 8 bits, and their sums be those of wgmma."""

    def unit(self, dtype: torch.dtype) -> float:
        """The unit of a result that is stored in a type."""

    def operands(self, *every: NumberSet) -> list[NumberSet]:
        """The operands of a product, as this run stores them."""

    def factors(self, a: NumberSet, b: NumberSet) -> tuple[NumberSet, ...]:
        """The factors of products of single numbers, as this run stores them."""

    def note_jump(self) -> None:
        """Note that a radius holds what lies at other places, which numbers that move a little may not show."""

    def note_measured(self, name: str) -> None:
        """Note that an operation without a rule was measured."""


@dataclass(frozen=True, eq=False)
class Operation:
    """One call of an operation: its operands as sets, and torch's own results."""

    name: str
    func: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    results: Sequence[torch.Tensor]

    @property
    def dtype(self) -> torch.dtype:
        return self.results[0].dtype

    @property
    def sets(self) -> list[NumberSet]:
        return sets_in([list(self.args), dict(self.kwargs)])

    @property
    def is_exact(self) -> bool:
        return all(one.is_exact for one in self.sets)

    def at(self, pick: Callable[[NumberSet], torch.Tensor], **changed: Any) -> list[torch.Tensor]:  # noqa: ANN401
        """The operation's results on one part of each operand, all floats in float64."""

        def given(one: Any) -> Any:  # noqa: ANN401  an argument
            if isinstance(one, NumberSet):
                return float(pick(one)) if one.is_literal else pick(one)
            if isinstance(one, list | tuple):
                return [given(part) for part in one]
            return wide_type(one) if isinstance(one, torch.dtype) else one

        made = self.func(
            *map(given, self.args), **{name: given(one) for name, one in {**self.kwargs, **changed}.items()}
        )
        return tensors_in(made if isinstance(made, tuple | list) else [made])

    def values(self) -> list[torch.Tensor]:
        """The exact results."""
        return self.at(lambda one: one.x)

    def option(self, place: int, name: str, default: Any = None) -> Any:  # noqa: ANN401  an argument
        """An argument by its place or its name."""
        return self.args[place] if len(self.args) > place else self.kwargs.get(name, default)


StepRule = Callable[[Roundings, Operation], list[StepResult]]


@cache
def every_rule() -> Mapping[str, StepRule]:
    """The rules of all families."""
    found: dict[str, StepRule] = {}
    for one in pkgutil.iter_modules(rules.__path__):
        family: Mapping[str, StepRule] = importlib.import_module(f"{rules.__name__}.{one.name}").RULES
        twice = sorted(found.keys() & family.keys())
        assert not twice, f"two families have a rule for {twice}"
        found |= family
    return found


def rule_of(name: str) -> StepRule | None:
    """The rule of an operation, or of the same one that does not write in place."""
    known = every_rule()
    plain = name.removesuffix("_") if not name.startswith("__") else name
    return known.get(name) or known.get(plain) or known.get(name.strip("_"))


def axes_in(given: Any, ndim: int) -> list[int]:  # noqa: ANN401  an argument
    """The axes that an argument means; all of them if it names none."""
    axes = [one for one in flat([given]) if isinstance(one, int) and not isinstance(one, bool)]
    return [axis % max(ndim, 1) for axis in axes] or list(range(ndim))

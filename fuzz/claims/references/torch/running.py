"""Traces a reference by running it: for loops over integers, `.item()`, writes into slices, tuples and dicts.

torch runs the reference, at one set of sizes and integers. A tensor reads the shadow of its storage at its own places,
so a view needs no rule; a write makes another shadow. Knows torch and the table of rules; it does not know how a
formula is judged.
Long, since it follows every kind of value that a reference may hold.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from kfuzz.claims.references.aten.table import RULES, write_operation
from kfuzz.claims.references.aten.term import Term, Text, Writer
from kfuzz.claims.references.torch import storage
from kfuzz.claims.references.torch.declared import CannotError, DrawsError
from kfuzz.claims.references.torch.shadows import Shadow, Storages
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.devices.python.torch.modes import UncompiledMode
from kfuzz.devices.python.torch.packed import is_packed
from kfuzz.oracle.numbers.elements import NARROW

FACTORIES = (
    "zeros", "ones", "full", "empty", "empty_strided", "new_zeros", "new_ones", "new_full", "new_empty", "arange",
    "eye", "scalar_tensor", "zeros_like", "ones_like", "full_like", "empty_like", "lift_fresh_copy", "tril_indices",
    "new_empty_strided",
)  # fmt: skip
"""Operations whose numbers are exact, whatever computes them. An empty tensor holds what its memory held."""
ARITHMETIC = ("add", "sub", "mul", "neg", "cumsum")
"""Operations that round nothing between whole numbers that are small enough."""
BY_VALUE = ("_local_scalar_dense", "item", "equal", "is_nonzero", "nonzero", "masked_select", "unique2")
"""Operations whose result steers Python, or the sizes of tensors."""
NAMES, SUMS = re.compile(r"[A-Za-z_]\w*"), re.compile(r"N\.(sum|mean|dot|matmul|average|mean_var|running_sum)\(")
NUMBER = re.compile(r"_\d+(?=_|$)")
OVERWRITES = ("copy_", "zero_", "fill_")
"""Operations that do not read their first operand."""
MOVES = ("_to_copy", "clone", "contiguous")
"""Operations that only copy numbers."""
PLACES = (
    "_unsafe_view",
    "constant_pad_nd",
    "cat",
    "stack",
    "index",
    "index_select",
    "gather",
    "flip",
    "roll",
    "repeat",
)
"""Operations that copy numbers to other places, and may add zeros between them."""
OF_PACKED = {"scaled_mm": (-1, 0)}
"""Operations that take several numbers in a byte: along which axis of each operand."""


class RunWriter(Writer):
    """Names a narrow value by its operation alone: a loop has as many as it has turns, and a claim names them once."""

    def __init__(self) -> None:
        super().__init__({})
        self.kept: dict[str, None] = {}
        self.behind: dict[str, int] = {}
        """How many sums follow one another up to each value."""

    def set(self, name: str, text: Text) -> Text:
        before = max((self.behind.get(one, 0) for one in NAMES.findall(text)), default=0)
        self.behind[name] = before + bool(SUMS.search(text))
        return super().set(name, text)

    def keep(self, name: str, text: Text) -> Text:
        kept = NUMBER.sub("", name)
        self.kept[kept] = None
        return self.set(name, f'N.keep({text}, "{kept}")')


class Running(UncompiledMode):
    """Writes what torch computes as the lines of a formula, while the reference runs.

    `file`: the reference's own, whose lines are named in reasons. `inputs`: the tensors whose numbers are the op's.
    `narrow`: types of 16 bits that arrays have, so that any value may be rounded to them.
    """

    def __init__(self, file: Path, inputs: Mapping[str, torch.Tensor], narrow: Sequence[str] = ()) -> None:
        super().__init__()
        self.file, self.to = str(file.resolve()), RunWriter()
        self.narrow = narrow
        self.memory = Storages(self.to)
        self.without_rule: dict[str, str] = {}
        """The operations that have none, by the names of their results."""
        self.drawn: dict[str, DrawsError] = {}
        """By the names of their results, the operations without a rule that drew random numbers."""
        self.rounded: set[int] = set()
        """The storages whose numbers were rounded to a narrow type: they may only be moved from there on."""
        for name, given in inputs.items():
            one = self.memory.numbers(given) if is_packed(given) else given
            if one.is_floating_point():
                self.memory.write(one, Term(name, storage.shape_of(one), is_input=True))

    @property
    def unknown(self) -> list[str]:
        """The operations without a rule, each once."""
        return list(dict.fromkeys(self.without_rule.values()))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        """Run one operation, and write it down if it computes floats or moves them to another storage."""
        kwargs = kwargs or {}
        op = storage.name_of(func)
        with storage.unwatched():
            given = storage.tensors_in((args, kwargs))
            self.check_values(op, given)
            changed = [one for one in storage.written_by(func, args, kwargs) if one.is_floating_point()]
            if any(map(is_packed, given)) and not storage.is_view(func) and op not in OF_PACKED:
                return self.copy_packed(func, types, args, kwargs)
            read = [None, *args[1:]] if op in OVERWRITES else self.with_numbers(op, args)
            before = None if storage.is_view(func) or op in FACTORIES else [self.memory.operand(one) for one in read]
            options = {name: self.memory.operand(one) for name, one in kwargs.items() if name != "out"}
            for one in changed:
                self.memory.shadow(one)
        out = func(*args, **kwargs)
        if before is None:
            return out
        with storage.unwatched():
            every = [one for one in (out if isinstance(out, tuple | list) else [out]) if isinstance(one, torch.Tensor)]
            if storage.does_draw(func) and op not in RULES and not all(one.is_floating_point() for one in every):
                raise DrawsError(op, self.where())  # integers steer the run
            self.record(func, args, before, options, every, changed)
        return out

    def with_numbers(self, op: str, args: Sequence[Any]) -> list[Any]:
        """The operands with tensors of numbers in place of packed ones."""
        axes = OF_PACKED.get(op, ())
        packed = [self.memory.numbers(one, axis) for one, axis in zip(args, axes, strict=False)]
        return [*packed, *args[len(packed) :]]

    def copy_packed(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401  of torch
        """A copy of a packed tensor, whose numbers are copied likewise."""
        if storage.name_of(func) == "clone":
            made = func(*args, **kwargs)
            numbers = self.__torch_dispatch__(func, types, (self.memory.numbers(args[0]), *args[1:]), kwargs)
            if self.memory.pair(made, numbers):
                return made
        raise CannotError(f"{self.where()}: {storage.name_of(func)} takes {args[0].dtype}; there is no rule")

    def record(
        self, func: Any, args: Sequence[Any], before: Sequence[Any], options: dict[str, Any],  # noqa: ANN401  of torch
        every: Sequence[torch.Tensor], changed: Sequence[torch.Tensor],
    ) -> None:  # fmt: skip
        """Write one operation as lines, and its results into their shadows."""
        op = storage.name_of(func)
        is_live = any(isinstance(one, Term) and not one.is_mask for one in storage.flat(before))
        if not every or not (is_live or any(one.is_floating_point() for one in every)):
            return
        if not any(one.is_floating_point() for one in every) and not self.depends(args):
            return  # a mask of the reference's own numbers is what it is
        if op in ARITHMETIC and not changed and not self.depends(args) and storage.are_whole((args, options, every)):
            return  # so are whole numbers, such as positions that are counted in float32
        name = self.memory.name(op)
        if op == "copy_":
            if storage.key_of(args[1]) in self.rounded or (self.is_hidden(args[0]) and args[0].dtype != args[1].dtype):
                self.rounded.add(storage.key_of(args[0]))
            made: Any = self.spread(name, before[1], args[0])
        elif op in ("zero_", "fill_"):
            number = 0.0 if op == "zero_" else before[1]
            made = write_operation(self.to, "full", name, [None, number], {}, storage.shape_of(args[0]))
        elif op in ("index_put_", "_index_put_impl_", "index_put") and not (len(args) > 3 and args[3]):
            self.put(name, args, before, every[0])
            return
        elif op == "index":
            made = self.pick(name, args)
        else:
            if len(every) > 1 or op.startswith(("split", "unbind", "unsafe_split")):
                options["results"] = [storage.shape_of(one) for one in every]
            if not every[0].is_floating_point() and not every[0].is_complex():
                options["dtype"] = "bool" if every[0].dtype == torch.bool else "int"
            made = self.follow(op, name, args, before, options, every[0])
            self.drawn |= {name: DrawsError(op, self.where())} if made is None and storage.does_draw(func) else {}
        if self.is_known(every[0]) and isinstance(made, Term) and not made.is_mask:
            made = replace(made, text=self.to.keep(f"{name}_stored", made.text), weights="", square="")
        self.keep(name, op, made if isinstance(made, list) else [made], every, changed)

    def follow(
        self, op: str, name: str, args: Sequence[Any], before: Sequence[Any], options: dict[str, Any], to: torch.Tensor
    ) -> Term | list[Term] | None:
        """An operation by its rule; None without one, or where torch computes with what it rounded to a narrow type."""
        given = storage.tensors_in(args)
        is_moved = op in (*MOVES, *PLACES) and all(one.dtype == to.dtype for one in given if one.is_floating_point())
        is_rounded = (self.is_hidden(to) and not is_moved) or any(storage.key_of(one) in self.rounded for one in given)
        if is_rounded and op not in MOVES:
            return None
        if is_rounded:
            self.rounded.add(storage.key_of(to))
            self.memory.alive.append(to)
        return write_operation(self.to, op, name, before, options, storage.shape_of(to))

    def keep(
        self, name: str, op: str, terms: Sequence[Term | None], every: Sequence[torch.Tensor],
        changed: Sequence[torch.Tensor],
    ) -> None:  # fmt: skip
        """Write the terms of an operation's results, or that nothing is known of them, into shadows."""
        for place, one in enumerate(every):
            term = terms[place] if place < len(terms) else None
            if term is None and not one.is_floating_point():
                self.memory.forget(one)
            elif term is not None or place == 0 or one.numel():
                self.memory.write(one, term or self.unknown_term(f"{name}_{place}" if place else name, op, one))
        for one in changed:
            if all(one is not other for other in every):
                self.memory.write(one, terms[0] or self.unknown_term(name, op, one))

    def is_known(self, one: torch.Tensor) -> bool:
        """Whether a kernel's arrays have this narrow type, too."""
        return OF_TYPE.get(one.dtype) in NARROW.values() and OF_TYPE[one.dtype].name in self.narrow

    def is_hidden(self, one: torch.Tensor) -> bool:
        """Whether it has a narrow type that no array of a kernel has: rounded to it, its numbers are not followed."""
        return OF_TYPE.get(one.dtype) in NARROW.values() and OF_TYPE[one.dtype].name not in self.narrow

    def depends(self, args: Sequence[Any]) -> bool:
        """Whether an operand holds numbers of the inputs, or computed ones."""
        given = storage.tensors_in(args)
        floats = any(one.is_floating_point() and not self.memory.shadow(one).is_constant for one in given)
        return floats or any(storage.key_of(one) in self.memory.shadows for one in given if not one.is_floating_point())

    def check_values(self, op: str, given: Sequence[torch.Tensor]) -> None:
        """Raise a CannotError if Python, or a size, goes by a number that follows from the inputs."""
        hidden = [
            one
            for one in given
            if not one.is_floating_point() and self.memory.shadows.get(storage.key_of(one)) == Shadow(0)
        ]
        if any(not one.is_floating_point() and storage.key_of(one) in self.memory.unpacked for one in given):
            raise CannotError(f"{self.where()}: {op} takes bytes of several numbers each; there is no rule")
        floats = [one for one in given if one.is_floating_point() and not self.memory.shadow(one).is_constant]
        if op in BY_VALUE and (hidden or floats):
            raise CannotError(f"{self.where()}: the reference goes by values, which a formula does not ({op})")
        if hidden:
            raise CannotError(f"{self.where()}: {op} takes integers that were computed from floats; there is no rule")

    def check_draws(self, outputs: Iterable[Term]) -> None:
        """Raise a DrawsError if an output depends on drawn numbers; a layer draws weights that others may replace."""
        wanted = {name for one in outputs for name in NAMES.findall(one.text)}
        for name, text in reversed(self.to.lines):
            if name in wanted and name in self.drawn:
                raise self.drawn[name]
            wanted.update(NAMES.findall(text) if name in wanted else ())

    def where(self) -> str:
        """The line of the reference that runs."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
        name = Path(self.file).name
        return f"{name}:{frame.f_lineno}" if frame is not None else name

    # -- operations that only move

    def spread(self, name: str, value: Any, like: torch.Tensor) -> Term:  # noqa: ANN401  a Term
        """What is copied, in the shape of its place."""
        shape = storage.shape_of(like)
        copied = write_operation(self.to, "_to_copy", name, [value], {"dtype": "float"}, value.shape)
        assert isinstance(copied, Term)
        return copied if copied.shape == shape else Term(f"{copied.text}.expanded({', '.join(shape)})", shape)

    def pick(self, name: str, args: Sequence[Any]) -> Term | None:
        """x[indices], whose indices are integers of this run."""
        with storage.unwatched():
            at = storage.places_of(args[0])[storage.indices_of(args[1])]
        if not args[0].is_floating_point():
            return None
        shape = tuple(map(str, at.shape))
        index = ", ".join(":" if one is None else self.memory.hold("at", one.numpy().copy()) for one in args[1])
        return Term(self.to.set(name, f"{self.memory.read(args[0]).text}[{index}]"), shape)

    def put(self, name: str, args: Sequence[Any], before: Sequence[Any], made: torch.Tensor) -> None:
        """x[indices] = values."""
        at = storage.places_of(args[0])[storage.indices_of(args[1])]
        if storage.key_of(made) != storage.key_of(args[0]):
            self.memory.write(made, before[0])
            at = storage.places_of(made)[storage.indices_of(args[1])]
        row = self.to.set(name, f"{before[2].text}.expanded({', '.join(map(str, at.shape))}).reshaped(-1)")
        self.memory.place(made, at.reshape(-1), row)

    def unknown_term(self, name: str, op: str, one: torch.Tensor) -> Term:
        """A tensor of unknown values."""
        self.without_rule[name] = f"{op} ({self.where()})"
        sizes = "".join(f", {size}" for size in one.shape)
        text = f'N.unknown("of torch\'s {op}, which kfuzz has no rule for, in {self.where()}"{sizes})'
        return Term(self.to.set(name, text), storage.shape_of(one))


def run_traced(
    reference: Callable[..., Any], file: Path, inputs: Mapping[str, torch.Tensor], narrow: Sequence[str] = ()
) -> tuple[Running, dict[str, Term]]:
    """Run the reference, and return what was written down and the terms of its outputs, by name."""
    running = Running(file, inputs, narrow)
    with torch.no_grad(), running:
        returned = reference(*inputs.values())
    every = returned if isinstance(returned, Mapping) else dict(enumerate(as_list(returned)))
    if not every or not all(isinstance(one, torch.Tensor) for one in every.values()):
        raise CannotError("it does not return a tensor")
    names = [key if isinstance(key, str) else "y" if len(every) == 1 else f"y{key}" for key in every]
    found = {}
    for name, one in zip(names, every.values(), strict=True):
        term = running.memory.operand(one)
        if running.memory.is_unknown(one):
            raise CannotError(f"its output {name} holds integers that were computed from floats; there is no rule")
        found[name if name not in inputs else f"{name}_out"] = term
    running.check_draws(found.values())
    return running, found


def as_list(returned: object) -> list[object]:
    return list(returned) if isinstance(returned, tuple | list) else [returned]

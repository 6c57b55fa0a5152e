"""What `get_inputs` of a reference's file makes: the inputs, wherever they are in it, and their dimensions.

Knows torch and the text of a file; it knows no set.
"""

import ast
import copy
import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.changed_integers import FEW_ELEMENTS, OtherIntegers, TextMaker
from kfuzz.claims.references.torch.declared import CannotError, Declared, object_of
from kfuzz.claims.references.torch.found_sizes import FoundSizes, SizesInText
from kfuzz.claims.references.torch.integers import PERMUTATION
from kfuzz.claims.references.torch.resized import Resized
from kfuzz.claims.references.torch.seen_integers import (
    MOST_BESIDE,
    MOST_ELEMENTS,
    drawn_integers,
    integers_seen,
    is_permutation,
    limit_of,
)
from kfuzz.claims.references.torch.sizes import BOOLEAN, Below, SizesOfRun
from kfuzz.claims.references.torch.storage import without_numbers
from kfuzz.claims.references.torch.task_data import as_text, names_of, numbers_of_data, rebuilt, tensors_of_data
from kfuzz.devices import GIVEN, inside
from kfuzz.devices.python.own_classes import has_own_code
from kfuzz.devices.python.torch.drawn_inputs import as_arguments
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.elements import BOOL, F32
from kfuzz.oracle.op.shapes import lengths_of

MakesAtSizes = Callable[[SizesOfRun], Callable[[], Any]]


@dataclass(frozen=True)
class MadeInputs:
    """The inputs of a reference, and what get_inputs makes; None if a reference takes nothing but its tensors.
    `numbers`: the whole numbers in it, each by its size's name or by its digits. `multiples`: a number that divides
    each size of a name.
    """

    declared: Declared
    data: Any
    numbers: Sequence[str] = ()
    multiples: Mapping[str, int] = field(default_factory=dict)
    gradients: Sequence[int] = ()
    """The places of the tensors that have to keep their gradients."""
    init: Sequence[str] = ()
    """What a model is made with, if it follows from sizes: a text for each argument."""
    make_at: MakesAtSizes | None = None
    """get_inputs at other sizes, where these are integers of its text."""

    @classmethod
    def read(cls, known: Mapping[str, Any], make: Callable[[], Any]) -> "MadeInputs":
        """The same inputs, as JSON has them, so that a run does not look for their sizes again."""
        narrow = {name: getattr(torch, dtype) for name, dtype in known["narrow"].items()}
        declared = Declared(known["dims"], known["below"], {}, known["sizes"], known["whole"], narrow)
        data = None if known["is_plain"] else make()
        return cls(declared, data, known["numbers"], gradients=known["gradients"], init=known["init"])

    def as_json(self) -> dict[str, Any]:
        """What a run has to know of them."""
        own = self.declared
        return {
            "dims": own.dims, "below": own.below, "sizes": own.sizes, "whole": own.whole,
            "narrow": {name: str(dtype).removeprefix("torch.") for name, dtype in own.narrow.items()},
            "numbers": self.numbers, "gradients": self.gradients, "is_plain": self.is_plain,
            "init": self.init,
        }  # fmt: skip

    @property
    def is_plain(self) -> bool:
        """Whether the reference takes its tensors in their order, as they are, and nothing else."""
        if self.data is None:
            return True
        if isinstance(self.data, Mapping) or self.gradients:
            return False
        return all(isinstance(one, torch.Tensor) and one.ndim and not one.is_complex() for one in self.data)

    def call(self, reference: Callable[..., Any], number: int = 0) -> Callable[..., Any]:
        """The reference as a function of its tensors alone: whatever else it is handed stays as it is.

        `number`: the set of weights that a model has.
        """
        if not self.init:
            return self._bound(reference)
        return Resized(reference, (self.declared.dims, self.declared.sizes), self.init, self._bound, number)

    def _bound(self, reference: Callable[..., Any]) -> Callable[..., Any]:
        """The same, for inputs of any sizes."""
        data, numbers, dims = self.data, self.numbers, list(self.declared.dims.values())
        if self.is_plain:
            return reference
        own = tensors_of_data(data)

        def call(*tensors: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
            shapes = [one.shape for one in tensors[: len(dims)]]
            lengths = lengths_of(pair for one in zip(dims, shapes, strict=True) for pair in zip(*one, strict=True))
            whole = (int(text) if text.isdigit() or text[0] == "-" else lengths[text] for text in numbers)
            scalars = [as_made(one, of) for one, of in zip(tensors, own, strict=True)]
            for place in self.gradients:
                scalars[place] = scalars[place].detach().requires_grad_()
            return call_reference(reference, rebuilt(data, iter(scalars), whole if numbers else None))

        return call

    @property
    def texts(self) -> tuple[str, ...]:
        """How a submission gets the inputs, a text for each argument; nothing if each is a tensor in its place."""
        if self.data is None:
            return ()
        data, tensors, names = self.data, tensors_of_data(self.data), list(self.declared.dims)
        views = [view_of_input(name, self.declared.dims[name], one) for name, one in zip(names, tensors, strict=False)]
        texts = iter(
            [f"({one}.detach().requires_grad_())" if n in self.gradients else one for n, one in enumerate(views)]
        )
        numbers = iter(self.numbers or [*map(str, numbers_of_data(data))])
        pairs = data.items() if isinstance(data, Mapping) else enumerate(data)
        made = {key: as_text(one, texts, numbers, f"{GIVEN}[{key!r}]") for key, one in pairs}
        if isinstance(data, Mapping):
            return tuple(f"{key}={one}" for key, one in made.items())
        return () if list(made.values()) == names[: len(made)] else tuple(made.values())


def as_made(one: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    """An array as get_inputs made it: a complex number of two parts, and a tensor of one number without axes."""
    one = torch.view_as_complex(one.contiguous()) if of.is_complex() else one
    return one if of.ndim else one.reshape(())


def view_of_input(name: str, dims: Sequence[str], of: torch.Tensor) -> str:
    """The text of the same."""
    shape = ", ".join(dims[:-1]) if of.ndim else "()"
    if of.is_complex():
        return f'({name}.view("complex64").reshape({shape}))'
    return name if of.ndim else f"({name}.reshape(()))"


@dataclass
class DoesTake:
    """Whether a reference takes what get_inputs makes of other integers; of inputs that are large, without numbers."""

    maker: TextMaker
    reference: Callable[..., Any]
    needs_numbers: bool | None = None

    @cached_property
    def copied(self) -> Callable[..., Any]:
        """The reference, or a copy of a model, which a call without numbers may change."""
        return copy.deepcopy(self.reference) if isinstance(self.reference, torch.nn.Module) else self.reference

    def __call__(self, values: OtherIntegers) -> bool:
        few = sum(one.numel() for one in tensors_of_data(self.maker.without_memory(values))) <= FEW_ELEMENTS
        is_remade = self._is_remade(values)
        if few and not is_remade:
            return self._does_run(values)
        if self.needs_numbers is None:
            self.needs_numbers = not self._does_run({}, without_numbers)
        return not is_remade if self.needs_numbers else self._does_run(values, without_numbers)

    def _is_remade(self, values: OtherIntegers) -> bool:
        """Whether a model is made with something else."""
        return bool(self.maker.init_inputs(values) != self.maker.init_inputs({}))

    def _does_run(self, values: OtherIntegers, mode: Callable[..., Any] | None = None) -> bool:
        try:
            with mode() if mode else nullcontext():
                reference = self.copied
                if self._is_remade(values):
                    reference = object_of(type(self.reference), self.maker.init_inputs(values))
                made = call_reference(reference, self.maker.made(values))
                return all(one.numel() for one in tensors_of_data(made))
        except Exception:  # of torch, or of their code, at such sizes
            return False


def call_reference(reference: Callable[..., Any], data: Any) -> Any:  # noqa: ANN401  containers of tensors
    """What a reference returns for what get_inputs makes."""
    return reference(**data) if isinstance(data, Mapping) else reference(*data)


def does_need_gradients(reference: Callable[..., Any], data: Any) -> bool:  # noqa: ANN401  as above
    """Whether a reference runs only if inputs keep their gradients, as it calls `backward` or reads `x.grad`."""
    tensors = tensors_of_data(data)
    if not any(one.requires_grad for one in tensors):
        return False
    try:
        call_reference(reference, rebuilt(data, (one.detach().clone() for one in tensors)))
    except Exception:  # of torch, or of their code
        return True
    return False


def names_of_inputs(reference: Callable[..., Any], data: Any) -> list[str]:  # noqa: ANN401  containers of tensors
    """A name for each tensor: that of the parameter that takes it, or its key; `x0` and so on where it has none."""
    if isinstance(data, Mapping):
        return names_of((), data)
    parameters = parameters_of(reference)[: len(data)]
    return names_of([*parameters, *(f"x{number}" for number in range(len(parameters), len(data)))], data)


def parameters_of(reference: Callable[..., Any]) -> list[str]:
    """The names of what a function takes in its order; none if it does not say."""
    called = getattr(reference, "forward", reference)
    called = getattr(called, "_init_fn", called)  # of an operation that torch.library.custom_op registers
    with suppress(TypeError, ValueError):
        every = inspect.signature(called).parameters
        in_order = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [name for name, one in every.items() if name != "self" and one.kind in in_order]
    return []


def inputs_of(
    module: ModuleType, reference: Callable[..., Any], source: str, is_remade: bool = False
) -> MadeInputs:  # fmt: skip
    """The inputs that get_inputs makes, with a name for each size that may be another one.

    `is_remade`: a submission's model is made again with what get_init_inputs gives there, as the reference is.
    """
    if not callable(getattr(module, "get_inputs", None)):
        raise CannotError('arrays are missing: write { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }')
    maker = TextMaker(module, source, makes_objects=is_remade and is_remakable(module, reference))
    sizes = SizesInText(maker, DoesTake(maker, reference))
    data, names = sizes.data, names_of_inputs(reference, sizes.data)
    if not names:
        raise CannotError("get_inputs makes no tensor")
    if (one := object_within(data, module)) is not None:
        raise CannotError(f"what a {type(one).__name__} holds is known to get_inputs alone")
    data = with_memory(maker, data)
    found, made = sizes.found(names), dict(zip(names, tensors_of_data(data), strict=True))
    parts = [[*dims, "2"] if one.is_complex() else dims for dims, one in zip(found.dims, made.values(), strict=True)]
    dims = dict(zip(names, parts, strict=True))
    below, own = limits_of(module, made, found.home)
    below |= {name: BOOLEAN for name, one in made.items() if one.dtype == torch.bool}
    types = {name: OF_TYPE[one.dtype] for name, one in made.items() if one.dtype in OF_TYPE}
    whole = {name: one.name for name, one in types.items() if one not in (F32, BOOL)}
    narrow = {name: made[name].dtype for name in whole if types[name].is_narrow and types[name].is_float}
    declared = Declared(dims, below, {}, found.home, whole, narrow, own)
    few = sum(one.numel() for one in made.values()) <= FEW_ELEMENTS
    tensors = (
        enumerate(tensors_of_data(maker.made({}))) if few and does_need_gradients(reference, maker.made({})) else ()
    )
    gradients = [place for place, one in tensors if one.requires_grad]

    def make_at(at: SizesOfRun) -> Callable[[], Any]:
        return maker.maker({place: at[name] for name, of in found.places.items() if name in at for place in of})

    return MadeInputs(declared, data, found.numbers, found.multiples, gradients, init_texts(maker, found), make_at)


def is_remakable(module: ModuleType, reference: object) -> bool:
    """Whether a reference is a model that is made with literals."""
    of, inputs = type(reference), getattr(module, "get_init_inputs", None)
    if not isinstance(reference, torch.nn.Module) or of.__module__ != module.__name__ or inputs is None:
        return False
    try:
        return bool([ast.literal_eval(repr(one)) for one in inputs()])
    except (ValueError, SyntaxError):
        return False


def init_texts(maker: TextMaker, found: FoundSizes) -> list[str]:
    """What a model is made with, a text for each argument; nothing if no size is among it."""
    if all(text.lstrip("-").isdigit() for text in found.init):
        return []
    numbers = iter(found.init)
    return [as_text(one, iter(()), numbers) for one in maker.init_inputs({})]


def with_memory(maker: TextMaker, data: Any) -> Any:  # noqa: ANN401  containers of tensors
    """What get_inputs makes; with its numbers if there are modules, of which one without memory computes nothing."""
    return maker.made({}) if has_modules(data) else data


def known_inputs(module: ModuleType, source: str, known: Mapping[str, Any]) -> MadeInputs:
    """The inputs whose sizes are known."""
    maker = TextMaker(module, source)
    return MadeInputs.read(known, lambda: with_memory(maker, maker.without_memory({})))


def object_within(data: Any, module: ModuleType) -> object | None:  # noqa: ANN401  containers of tensors
    """The first object of a class of this file, with functions or tensors, that is no container or module of torch: a
    call may change it, so that each takes another one.
    """
    held = inside(data)
    if held is not None:
        found = (object_within(one, module) for one in held.values())
        return next((one for one in found if one is not None), None)
    if type(data).__module__ != module.__name__ or isinstance(data, torch.nn.Module | enum.Enum):
        return None
    has_tensors = any(isinstance(one, torch.Tensor) for one in getattr(data, "__dict__", {}).values())
    return data if has_tensors or has_own_code(type(data), module) else None


def has_modules(data: Any) -> bool:  # noqa: ANN401  containers of tensors
    """Whether one of torch's modules is among the inputs."""
    return isinstance(data, torch.nn.Module) or any(map(has_modules, (inside(data) or {}).values()))


def limits_of(
    module: ModuleType, made: Mapping[str, torch.Tensor], home: Mapping[str, int]
) -> tuple[Below, Sequence[str]]:
    """The limits of integers as torch.randint drew them, permutations, and the integers that are made otherwise."""
    integers = [name for name, one in made.items() if is_whole(one)]
    held = sum(one.numel() for one in made.values())
    if integers and (held > MOST_BESIDE or sum(made[name].numel() for name in integers) > MOST_ELEMENTS):
        raise CannotError(f"{integers[0]} holds integers, and get_inputs makes too many to look at; write arrays")
    with drawn_integers() as drawn:
        every = dict(zip(made, tensors_of_data(as_arguments(module.get_inputs())), strict=True)) if integers else {}
    limits = {name: limit_of(every[name], drawn) for name in integers}
    lengths = {size: name for name, size in reversed(list(home.items()))}
    below = {name: "" if limit is None else lengths.get(limit, str(limit)) for name, limit in limits.items()}
    unclear = [name for name, text in below.items() if not text]
    under_seeds = integers_seen(lambda: tensors_of_data(as_arguments(module.get_inputs())), list(made), unclear)
    below |= {name: PERMUTATION for name, some in under_seeds.items() if is_permutation(some)}
    return below, [name for name in under_seeds if below[name] != PERMUTATION]


def is_whole(one: torch.Tensor) -> bool:
    """Whether a tensor holds integers."""
    return not one.is_floating_point() and not one.is_complex() and one.dtype != torch.bool

"""The last way to make a reference's inputs: whatever get_inputs makes, called under another seed for each trial.

An input of one integer, the draw, says under which seed. Floats of one shape are arrays that kfuzz draws, in every
other draw, unless get_inputs computes them or others from them; all else, such as integers, truths and objects, is as
get_inputs makes it. Knows get_inputs and torch's
tensors; it knows no set.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kfuzz.claims.references.torch.declared import CannotError, Declared
from kfuzz.claims.references.torch.given import call_reference, is_whole, names_of_inputs, view_of_input
from kfuzz.claims.references.torch.other_numbers import put, without_own_domain
from kfuzz.claims.references.torch.random_state import kept_random_state
from kfuzz.claims.references.torch.seen_integers import MOST_BESIDE, structure_seen
from kfuzz.claims.references.torch.sizes import Below, Dims
from kfuzz.claims.references.torch.task_data import PLAIN, Keys, at, literal_of, tensor_places, tensors_of_data
from kfuzz.claims.references.torch.twins.leaves import bits_of, leaves
from kfuzz.devices import MAKER, fields_of, inside
from kfuzz.devices.python.torch.drawn_inputs import PER_SEED, inputs_of_draw
from kfuzz.devices.python.torch.elements import OF_TYPE
from kfuzz.oracle.numbers.elements import BOOL, F32, F64

ROLES = ("draw", "draw_of_inputs", "drawn_inputs")
"""The name of the input that is the draw: the first that no other input has."""
SEEDS = 4
"""What get_inputs makes is the same under so many seeds, or may differ."""
MOST_DRAWS = 1 << 16


@dataclass(frozen=True)
class DrawnArray:
    """A tensor that is an array of the op. `is_changed`: in each draw, since the reference writes into it."""

    name: str
    keys: Keys
    dims: Sequence[str]
    element: str
    below: str = ""
    is_changed: bool = False


@dataclass(frozen=True)
class DrawnInputs:
    """The inputs of a reference in this way. `texts`: how a submission gets them; `own_texts`:
    if all floats are those of get_inputs. `most`: the number of draws.

    `halves`: the type of 16 bits that some of them have.
    """

    role: str
    arrays: Sequence[DrawnArray]
    texts: Sequence[str]
    own_texts: Sequence[str]
    most: int = MOST_DRAWS
    halves: str = ""
    multiples: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, known: Mapping[str, Any]) -> "DrawnInputs":
        """The same inputs, as JSON has them."""
        arrays = [DrawnArray(**{**one, "keys": tuple(one["keys"])}) for one in known["arrays"]]
        return cls(**{**known, "arrays": arrays})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def with_own_numbers(self) -> "DrawnInputs":
        """The same inputs, of which kfuzz draws none but those that the reference writes into."""
        changed = [one for one in self.arrays if one.is_changed]
        return replace(self, arrays=changed, texts=self.own_texts)

    @property
    def declared(self) -> Declared:
        """The arrays of the op."""
        dims: Dims = {self.role: ["1"], **{one.name: list(one.dims) for one in self.arrays}}
        below: Below = {self.role: f"0..{self.most - 1}", **{one.name: one.below for one in self.arrays if one.below}}
        types = {one.name: one.element for one in self.arrays if one.element not in (F32.name, BOOL.name)}
        narrow = {
            name: dtype for dtype, one in OF_TYPE.items() for name, text in types.items()
            if one.name == text and one.is_narrow and one.is_float
        }  # fmt: skip
        return Declared(dims, below, {}, {}, types, narrow)

    def call(self, reference: Callable[..., Any], make: Callable[[int], Any]) -> Callable[..., Any]:
        """The reference as a function of the draw and of the arrays."""

        def call(draw: torch.Tensor, *given: torch.Tensor) -> Any:  # noqa: ANN401  what the reference returns
            number = int(draw)
            data = make(number)
            for array, one in zip(self.arrays, given, strict=True):
                if number % PER_SEED or array.is_changed:
                    data = put(data, array.keys, one)
            return call_reference(reference, data)

        return call


def shape_at(data: Any, keys: Keys) -> object:  # noqa: ANN401  as above
    """The shape of what lies at a place; None if it has none."""
    return getattr(at(data, keys), "shape", None)


def draws_of(module: ModuleType, path: Path) -> Callable[[int], Any]:
    """What get_inputs makes for a draw."""
    if not callable(getattr(module, "get_inputs", None)):
        raise CannotError('arrays are missing: write { x = "f32[rows, cols] -> x", y = "f32[rows, cols] <- y" }')

    def make(draw: int) -> Any:  # noqa: ANN401  containers of tensors
        with kept_random_state():  # the reference's own draws do not repeat with those of its inputs
            return inputs_of_draw(module.get_inputs, path, draw)

    return make


def drawn_inputs_of(
    make: Callable[[int], Any], reference: Callable[..., Any], own: Collection[Keys] = ()
) -> DrawnInputs:
    """The inputs of a reference in this way, by a few seeds. `own`: places that always have get_inputs' own numbers."""
    first = make(0)
    if (made := sum(one.numel() for one in tensors_of_data(first))) > MOST_BESIDE:
        raise CannotError(f"get_inputs makes {made:,} elements, too many for a trial")
    every = [first, *(make(PER_SEED * seed) for seed in range(1, SEEDS))]
    if not are_same(every[0], make(0)) and not are_same(*(list(answers_at(make, reference)) for _ in range(2))):
        raise CannotError("get_inputs makes other inputs when it is called again under one seed")
    shapes = [shapes_of(call_reference(reference, make(PER_SEED * seed))) for seed in range(SEEDS)]
    changed = [keys for keys in changed_by(reference, make(0)) if is_array(at(every[0], keys))]
    is_alike = shapes.count(shapes[0]) == SEEDS and all(outline(one) == outline(every[0]) for one in every)
    if not is_alike or any(shape_at(one, keys) != shape_at(every[0], keys) for one in every for keys in changed):
        every = every[:1]
    found = [keys for keys in arrays_in(every) if keys not in changed and keys not in own]
    kept = [*changed, *without_own_domain(found, make, reference)]
    names = dict(zip(tensor_places(every[0]), names_of_inputs(reference, every[0]), strict=True))
    role = next(one for one in ROLES if one not in names.values())
    arrays = [
        array_of(names[keys], keys, [at(one, keys) for one in every], is_changed=keys in changed)
        for keys in tensor_places(every[0])
        if keys in kept
    ]
    kinds = {one.dtype for data in every for one in tensors_of_data(data)}
    halves = [OF_TYPE[kind].name for kind in (torch.bfloat16, torch.float16) if kind in kinds]
    most = MOST_DRAWS if len(every) > 1 else PER_SEED
    made = DrawnInputs(role, arrays, (), (), most, next(iter(halves), ""))
    own_texts = list(texts_of(made.with_own_numbers, every))
    return replace(made, texts=list(texts_of(made, every)), own_texts=own_texts)


def answers_at(make: Callable[[int], Any], reference: Callable[..., Any]) -> Iterator[torch.Tensor]:
    """The answers at the first draw: bytes of its inputs that no number is in, as in a packed cache, may be any."""
    yield from (torch.as_tensor(one).detach() for _, one in leaves(call_reference(reference, make(0))))


def outline(data: Any) -> list[object]:  # noqa: ANN401  the arguments of a call
    """How many arguments there are, or by which names."""
    return list(inside(data) or {})


def shapes_of(returned: Any) -> list[object]:  # noqa: ANN401  what a reference returns
    """The names of what is returned, with shapes and types."""
    return [
        (name, one.shape, one.dtype) if isinstance(one, torch.Tensor) else (name, type(one))
        for name, one in leaves(returned)
    ]


def are_same(one: Any, other: Any) -> bool:  # noqa: ANN401  containers of tensors
    """Whether all tensors and plain values are the same to the bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return (one.shape, one.dtype) == (other.shape, other.dtype) and bool(bits_of(one).equal(bits_of(other)))
    if isinstance(one, torch.nn.Module) and isinstance(other, torch.nn.Module):
        return are_same(one.state_dict(), other.state_dict())
    held, its = inside(one), inside(other)
    if held is None or its is None:
        return not isinstance(one, PLAIN) or repr(one) == repr(other)
    return held.keys() == its.keys() and all(are_same(held[key], its[key]) for key in held)


def is_array(one: torch.Tensor) -> bool:
    """Whether kfuzz has arrays of a tensor's numbers, and would hand them over in their own type."""
    kind = OF_TYPE.get(one.dtype)
    return bool(one.numel()) and (one.dtype == torch.complex64 or (kind is not None and kind != F64))


def arrays_in(every: Sequence[Any], keys: Keys = ()) -> Iterator[Keys]:
    """The places of tensors of floats that have one shape under every seed, in containers that have the same keys."""
    first = every[0]
    if all(isinstance(one, torch.Tensor) for one in every):
        is_number = first.is_floating_point() or first.is_complex()
        if is_array(first) and is_number and all((one.shape, one.dtype) == (first.shape, first.dtype) for one in every):
            yield keys
        return
    held = [inside(one) for one in every]
    names = list(held[0] or {})
    if all(one is not None and list(one) == names for one in held):
        for key in names:
            if isinstance(key, int | str):
                yield from arrays_in([one[key] for one in held if one is not None], (*keys, key))


def changed_by(reference: Callable[..., Any], data: Any) -> list[Keys]:  # noqa: ANN401  containers of tensors
    """The places of the tensors that a call changes."""
    before = {keys: bits_of(at(data, keys)) for keys in tensor_places(data)}
    call_reference(reference, data)
    return [keys for keys, bits in before.items() if not bits.equal(bits_of(at(data, keys)))]


def array_of(name: str, keys: Keys, some: Sequence[torch.Tensor], *, is_changed: bool) -> DrawnArray:
    """A tensor as an array of the op."""
    first = some[0]
    dims = [str(size) for size in first.shape] or ["1"]
    below = structure_seen(some) if is_whole(first) else BOOL.name if first.dtype == torch.bool else ""
    if first.is_complex():
        return DrawnArray(name, keys, [*dims, "2"], F32.name, is_changed=is_changed)
    return DrawnArray(name, keys, dims, OF_TYPE[first.dtype].name, below, is_changed)


def texts_of(inputs: DrawnInputs, every: Sequence[Any]) -> Iterator[str]:
    """How a submission gets the arguments: parts of what get_inputs makes, with the arrays in their places."""
    arrays = {one.keys: one for one in inputs.arrays}
    made = f"{MAKER}({inputs.role})"
    texts = {}
    for key in inside(every[0]) or {}:
        values = [(inside(one) or {})[key] for one in every]
        texts[key] = text_of(values, f"{made}[{key!r}]", (key,), arrays, inputs.role)
    if texts and not any(inputs.role in one for one in texts.values()):  # the same numbers under each seed
        first = next((key for key in texts if (key,) not in arrays), next(iter(texts)))
        is_array, own = (first,) in arrays, texts[first]
        texts[first] = f"{own} if {inputs.role} % {PER_SEED} else {own}" if is_array else f"{made}[{first!r}]"
    for key, text in texts.items():
        yield f"{key}={text}" if isinstance(every[0], Mapping) else text


def text_of(
    every: Sequence[Any], path: str, keys: Keys, arrays: Mapping[Keys, DrawnArray], role: str
) -> str:  # fmt: skip
    """One value, as it is under these seeds."""
    first = every[0]
    if (array := arrays.get(keys)) is not None:
        view = view_of_input(array.name, array.dims, first)
        view = f"({view}.detach().requires_grad_())" if first.requires_grad else view
        return view if array.is_changed else f"{view} if {role} % {PER_SEED} else {path}"
    if any(one[: len(keys)] == keys for one in arrays):
        fields = fields_of(first)
        parts = {
            key: text_of(
                [(inside(one) or {})[key] for one in every],
                f"{path}.{key}" if fields else f"{path}[{key!r}]", (*keys, key), arrays, role,
            )
            for key in inside(first) or {}
        }  # fmt: skip
        return literal_of(first, path, parts)
    is_plain = isinstance(first, PLAIN) and all(repr(one) == repr(first) for one in every)
    return repr(first) if is_plain and not (isinstance(first, float) and first - first != 0) else path

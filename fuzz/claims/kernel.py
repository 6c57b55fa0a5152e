"""A kernel file and its claim: loading it, the sizes it admits, and binding it to one case.

Knows where kernels lie and what a job is; never what the right answer is, nor how a job is run.
Long, since a kernel's sizes, its arrays and its jobs are all worked out of the same fields.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims import front_matter
from kfuzz.claims import sizes as claim
from kfuzz.claims.accuracy import Domain, Rounding, accuracy_for, read_rounding, read_values
from kfuzz.claims.arrays import Array, check_roles, read_align, read_arrays
from kfuzz.claims.bound import Bound
from kfuzz.claims.callables import completed, read_callable
from kfuzz.claims.expression import Expression, Total, show_sizes
from kfuzz.claims.formula_claims import each_count, literals_of, read_scalars
from kfuzz.claims.front_matter import FrontMatter, KeyPath, lookup
from kfuzz.claims.keys import TOP
from kfuzz.claims.launches import Launch, LaunchVariant, read_launches
from kfuzz.claims.reading import ClaimNames, Sizes, at, check_keys, evaluate
from kfuzz.claims.references import named, with_reference
from kfuzz.claims.roles import Dimensions, Roles, roles_of
from kfuzz.claims.sizes import Axis, Broken
from kfuzz.claims.steps import is_chosen, step_of
from kfuzz.claims.variants import EXAMPLE, FEW, SizeDomain, TooManyError
from kfuzz.claims.where import Where, read_where
from kfuzz.devices import Buffer, Entry, Job, Step
from kfuzz.devices.vast import is_vast
from kfuzz.oracle.elements import F32, Element, store
from kfuzz.oracle.find import find
from kfuzz.oracle.rounding import Accuracy
from kfuzz.oracle.verdict import Special
from kfuzz.printable import one_line
from kfuzz.sources import exhibits

HOME = Path(__file__).resolve().parent.parent
KERNELS = next(path for path in (HOME / "kernels", HOME.parent / "kernels") if path.is_dir())
"""Within the package where it is installed, beside it in a checkout."""
MOST_TUNES = 64
"""So many combinations of tune values are all tried when a claim is loaded; of more, the first and last."""

Arrays = Mapping[str, NDArray[np.generic]]
Shape = tuple[int, ...]


class DoesNotFitError(ValueError):
    """The case has shapes that this kernel does not take."""


@dataclass(frozen=True)
class Kernel:
    """One `.cu` or `.py` file with its claim."""

    name: str
    op: str
    axes: dict[str, Axis]
    tune: dict[str, tuple[int, ...]]
    where: Where
    let: dict[str, Expression]
    arrays: dict[str, Array]
    align: int
    warp_synchronous: bool
    """It is of the hardware before Volta, where the lanes of a warp go in step."""
    launches: tuple[Launch, ...]
    rounding: Rounding
    values: Domain
    broken: Broken | None
    home: Sizes
    """The shape that a host function was written for; empty where nobody says."""
    front: FrontMatter = field(repr=False)
    scalars: Mapping[str, float] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.front.path

    @property
    def prose(self) -> str:
        return self.front.prose

    @property
    def source(self) -> str:
        return self.front.source

    @property
    def flags(self) -> tuple[str, ...]:
        return self.rounding.flags

    @property
    def special(self) -> Special:
        return self.values.special

    @property
    def finite(self) -> bool:
        return self.values.finite

    @property
    def value_range(self) -> tuple[float, float] | None:
        return self.values.range

    @property
    def roles(self) -> Roles:
        return roles_of(self.op)

    def computes(self, op: str, dimensions: Mapping[str, Dimensions]) -> bool:
        """Whether an op as a case names it, with arrays of these dimensions, is this kernel's."""
        return op == named(self.op) and dict(dimensions) == self.roles.inputs

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry that a launch may name, whatever the sizes."""
        return tuple(dict.fromkeys(one.entry for one in self.every_variant))

    @cached_property
    def every_variant(self) -> tuple[LaunchVariant, ...]:
        """Every launch with every entry that it may name; ClaimError where one has too many."""
        listed = {name: axis.listed for name, axis in self.axes.items() if axis.listed}
        ends = {name: (axis.lo, axis.hi) for name, axis in self.axes.items()}
        found: list[LaunchVariant] = []
        for index, launch in enumerate(self.launches):
            try:
                found += launch.variants(SizeDomain(ends, {**listed, **self.tune}, self.let), self.where)
            except (TooManyError, RecursionError) as error:
                known = ", ".join((*listed, *self.tune)) or "none"
                reason = f"'{{{error}}}' has more than {FEW} values, and each is compiled"
                wanted = f"write a tune parameter or an axis of listed sizes (this claim has {known}), or {EXAMPLE}"
                raise self.front.error(self.entry_key(index), f"{reason}; {wanted}") from None
        return tuple(found)

    def variants(self, tune: Sizes) -> tuple[LaunchVariant, ...]:
        """The launches and entries between which the sizes choose, with these values of tune."""
        fitting = [one for one in self.every_variant if all(tune.get(name, n) == n for name, n in one.few.items())]
        distinct = {(id(one.launch), one.entry): one for one in fitting}
        of_launch = Counter(launch for launch, _ in distinct)
        return tuple(one for (launch, _), one in distinct.items() if one.launch.when or of_launch[launch] > 1)

    def entry_key(self, index: int) -> KeyPath:
        """The key under which the claim names the function of a launch."""
        place: KeyPath = ("host",) if self.launches[index].on_host else ("launch", index)
        return (*place, "call" if lookup(self.front.values, (*place, "call")) is not None else "entry")

    @cached_property
    def elements(self) -> Total:
        """How many values a case has, inputs and outputs of the op together."""
        return Total(tuple(array.shape for array in self.arrays.values() if array.reads or array.writes))

    def sizes(self, axes: Sizes, tune: Sizes) -> dict[str, int]:
        """Axes, tune and let together."""
        sizes = {**axes, **tune}
        for name, value in self.let.items():
            sizes[name] = evaluate(self.front, ("let", name), value, sizes)
        return sizes

    def admits(self, axes: Sizes) -> bool:
        """Whether the claim speaks of these sizes, launched in one way at least."""
        fits = axes.keys() == self.axes.keys() and all(axes[name] in axis for name, axis in self.axes.items())
        return fits and next(self.tunes(axes), None) is not None

    def tunes(self, axes: Sizes) -> Iterator[dict[str, int]]:
        """The values of tune with which these sizes may be launched."""
        for values in product(*self.tune.values()):
            tune = dict(zip(self.tune, values, strict=True))
            if not self.where.broken({**axes, **tune}):
                yield tune

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """The axes that the shapes of the op's inputs mean for this kernel, dimension by dimension."""
        read = [array for array in self.arrays.values() if array.reads]
        shapes = [fitted(array, inputs[str(array.reads)].shape, self.roles.takes_vector) for array in read]
        found: dict[str, int] = {}
        for array, shape in zip(read, shapes, strict=True):
            found |= {size.text: given for size, given in zip(array.shape, shape, strict=True)}
        axes = {name: found[name] for name in self.axes}
        for array, shape in zip(read, shapes, strict=True):
            if shape != tuple(size(axes) for size in array.shape):
                raise DoesNotFitError(f"{self.name} takes {array}; the case has {list(shape)} there")
        return axes

    def accuracy(self, sizes: Sizes) -> Accuracy:
        """What is claimed of the rounding at these sizes (axes, tune and let, as `sizes` gives them)."""
        for name, counts in (("adds", self.rounding.adds), ("rescales", self.rounding.rescales)):
            for place, count in each_count(name, counts):
                if evaluate(self.front, place, count, sizes) < 0:
                    raise self.front.error(place, f"{count(sizes)} {at(sizes)}; a count is 0 or more")
        return accuracy_for(self.rounding, sizes)

    def stored(self, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
        """A case's numbers as this kernel holds them: rounded to its elements; integers modulo what they stay below."""
        elements = {str(array.reads): array.element for array in self.arrays.values() if array.reads}
        sizes = {
            d: n for role, dims in self.roles.inputs.items() for d, n in zip(dims, inputs[role].shape, strict=False)
        }
        with np.errstate(all="ignore"):  # what is beyond a narrow format is infinite there
            return {role: self.held(role, given, elements[role], sizes) for role, given in inputs.items()}

    def held(self, role: str, given: NDArray[np.generic], element: Element, sizes: Sizes) -> NDArray[np.generic]:
        """One array of a case as this kernel holds it."""
        if given.dtype != np.float32:
            raise TypeError(f"{role}: dtype={given.dtype}; the inputs of a case are float32")
        if is_vast(given):
            return given  # zeros of any type
        if role in self.roles.integers:
            return whole_numbers(given, max(sizes.get(self.roles.integers[role], 100), 1)).astype(
                element.dtype, copy=False
            )
        return given if element is F32 else store(given.astype(np.float64), element)

    def bind(self, inputs: Arrays, tune: Sizes) -> Bound:
        """This kernel on these inputs, ready to run; ClaimError where the claim leads to no launch."""
        if tune.keys() != self.tune.keys() or any(tune[name] not in self.tune[name] for name in tune):
            raise ValueError(f"tune={dict(tune)}: {self.name} claims {self.tune or 'no tune parameters'}")
        axes = self.axes_of(inputs)
        if broken := self.where.broken({**axes, **tune}):
            raise ValueError(f"{show_sizes({**axes, **tune}, broken[0].names)}: {self.name} claims {broken[0].text}")
        sizes = self.sizes(axes, tune)
        shapes = shapes_of(self, sizes)
        given = self.stored(inputs)
        buffers = [buffer_of(self, name, shape, given, sizes) for name, shape in shapes.items()]
        buffers.sort(key=lambda buffer: buffer.is_returned)  # those come of themselves, behind what is placed
        job = Job(
            kernel=self.name,
            path=self.path,
            source=self.source,
            flags=self.flags,
            align=self.align,
            buffers=tuple(buffers),
            steps=steps_of(self, sizes, shapes),
            entries=self.entries,
            warp_synchronous=self.warp_synchronous,
        )
        return Bound(axes, sizes, self.accuracy(sizes), job)

    def outputs(self, outputs: Arrays) -> dict[str, NDArray[np.generic]]:
        """The outputs of a run, by role."""
        return {array.writes: outputs[name] for name, array in self.arrays.items() if array.writes}


def load(path: Path | str) -> Kernel:
    """Read a kernel file; ClaimError, in one line, where its claim is wrong or contradicts itself."""
    return read(front_matter.read(Path(path)))


@lru_cache(maxsize=1024)
def read(front: FrontMatter) -> Kernel:
    """The kernel that a front matter and the source below it make; of one text one kernel, which is read once."""
    check_keys(front, (), (*TOP, "call") if front.is_python else TOP)
    front = with_reference(front) if front.is_python else front
    roles = roles_of(claim.read_op(front))
    op = find(roles.op)
    if front.is_python:
        front = completed(front, roles)
    axes = claim.read_axes(front)
    tune = claim.read_tune(front)
    claim.check_names(front)
    where = read_where(front, axes, tune)
    let = claim.read_let(front, (*axes, *tune))
    scalars = read_scalars(front, op)
    names = ClaimNames((*axes, *tune, *let), claim.conditions_in(let), literals_of(op, scalars))
    arrays = read_arrays(front, names)
    check_roles(front, roles, arrays, axes)
    launches = (read_callable(front, names, arrays),) if front.is_python else read_launches(front, names, arrays)
    kernel = Kernel(
        name=name_of(front.path),
        op=roles.op,
        axes=axes,
        tune=tune,
        where=where,
        let=let,
        arrays=arrays,
        align=read_align(front, arrays),
        warp_synchronous=claim.read_warp_synchronous(front),
        launches=launches,
        rounding=read_rounding(front, op, names),
        values=read_values(front, op),
        broken=claim.read_broken(front, is_exhibit=name_of(front.path).startswith("broken/")),
        home=claim.read_home(front, axes),
        front=front,
        scalars=scalars,
    )
    _ = kernel.entries  # each expression in an entry has a few values
    for corner, choice in corners(kernel):
        sizes = kernel.sizes(corner, choice)
        steps_of(kernel, sizes, shapes_of(kernel, sizes))
        kernel.accuracy(sizes)
    return kernel


def whole_numbers(given: NDArray[np.generic], most: int) -> NDArray[np.int32]:
    """Any numbers as integers from 0 to below `most`."""
    numbers = np.nan_to_num(given.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    return np.asarray(np.mod(np.rint(np.abs(numbers)), most), dtype=np.int32)


def kernel_files(folder: Path = KERNELS) -> tuple[Path, ...]:
    """Every kernel file below the folder, by name."""
    return exhibits.list_kernel_files(folder)


def discover(folder: Path = KERNELS) -> tuple[Kernel, ...]:
    """Every kernel below the folder, by name."""
    return tuple(load(path) for path in kernel_files(folder))


def name_of(path: Path) -> str:
    """`softmax/online_block` for a file of ours, the file's own name for any other."""
    full = path.resolve()
    if ":" in full.name:  # a callable in a module
        return one_line(full.name)
    return one_line(full.relative_to(KERNELS).with_suffix("").as_posix() if full.is_relative_to(KERNELS) else full.stem)


def fitted(array: Array, shape: Shape, takes_vector: bool) -> Shape:
    """The shape of an input, with a row added or left out where the kernel's array has, or lacks, one."""
    if len(shape) == len(array.shape):
        return shape
    if takes_vector and len(array.shape) == 2 and len(shape) == 1:
        return (1, *shape)
    if takes_vector and len(array.shape) == 1 and len(shape) == 2 and shape[0] == 1:
        return shape[1:]
    raise DoesNotFitError(f"the kernel takes {array}; the case has {list(shape)}")


def shapes_of(kernel: Kernel, sizes: Sizes) -> dict[str, Shape]:
    """The shape of every array; each dimension of the op has one size in all of them."""
    shapes: dict[str, Shape] = {}
    known = {"1": 1}
    for name, array in kernel.arrays.items():
        key = ("arrays", name)
        shapes[name] = tuple(evaluate(kernel.front, key, size, sizes) for size in array.shape)
        if min(shapes[name]) < 0:
            raise kernel.front.error(key, f"shape {list(shapes[name])} {at(sizes)}; a dimension is 0 or more")
        if array.room and (room := evaluate(kernel.front, key, array.room, sizes)) < shapes[name][0]:
            raise kernel.front.error(
                key, f"{shapes[name][0]} of {room} {at(sizes)}; a part is no larger than the whole"
            )
        for role, dimensions in kernel.roles.dimensions(array.reads, array.writes):
            clash = clash_of(dimensions, shapes[name], known)
            if clash:
                found = f"'{role}' of {kernel.op} is [{', '.join(dimensions)}]; {clash} {at(sizes)}"
                raise kernel.front.error(key, found)
    return shapes


def clash_of(dimensions: Dimensions, shape: Shape, known: dict[str, int]) -> str:
    """In words, a dimension that another array has in another size; new ones become known."""
    for dimension, size in zip(dimensions, (1,) * (len(dimensions) - len(shape)) + shape, strict=True):
        if known.setdefault(dimension, size) != size:
            return f"{dimension} is {known[dimension]} elsewhere and {size} here"
    return ""


def buffer_of(kernel: Kernel, name: str, shape: Shape, given: Arrays, sizes: Sizes) -> Buffer:
    """An array of the claim as a device is told of it; `given` are the inputs as the kernel holds them."""
    array, content = kernel.arrays[name], None
    fill = array.fill.bits if array.fill else None
    if array.reads and is_vast(given[array.reads]):
        fill = 0
    elif array.reads:
        content = np.ascontiguousarray(given[array.reads]).reshape(shape)
    whole = (evaluate(kernel.front, ("arrays", name), array.room, sizes), *shape[1:]) if array.room else shape
    part, is_returned = shape if array.room else None, any(name in launch.returns for launch in kernel.launches)
    return Buffer(name, array.element, whole, content, fill, array.writes is not None, part, is_returned)


def steps_of(kernel: Kernel, sizes: Sizes, shapes: Mapping[str, Shape]) -> tuple[Step, ...]:
    """The launches whose `when` holds; together they are handed every output."""
    chosen = [
        (("launch", index), launch)
        for index, launch in enumerate(kernel.launches)
        if is_chosen(kernel.front, ("launch", index), launch, sizes)
    ]
    for name, array in kernel.arrays.items():
        if array.writes and prod(shapes[name]) and not any(name in (*one.args, *one.returns) for _, one in chosen):
            raise kernel.front.error(("arrays", name), f"no launch takes '{name}' {at(sizes)}")
    return tuple(step_of(kernel.front, key, launch, kernel.arrays, sizes, shapes) for key, launch in chosen)


def corners(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """The axes and tune values at which a claim is likeliest to contradict itself.

    Every corner of the axes with every tune value; then the sizes beside each number that a `when` names,
    since a gap between the variants begins there. Under a `where` it is the sizes nearest to them that it allows.
    """
    if not kernel.where:
        yield from every_corner(kernel)
        return
    yield {name: kernel.where.example[name] for name in kernel.axes}, {n: kernel.where.example[n] for n in kernel.tune}
    for axes, tune in every_corner(kernel):
        found = kernel.where.near({**axes, **tune}, tuple(kernel.axes))
        if found:
            yield {name: found[name] for name in axes}, tune


def every_corner(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    ends = [
        dict(zip(kernel.axes, sizes, strict=True))
        for sizes in product(*((axis.lo, axis.hi) for axis in kernel.axes.values()))
    ]
    tunes = [{name: values[end] for name, values in kernel.tune.items()} for end in (0, -1)]
    every = tunes
    if prod(len(values) for values in kernel.tune.values()) <= MOST_TUNES:
        every = [dict(zip(kernel.tune, values, strict=True)) for values in product(*kernel.tune.values())]
    yield from product(ends, every)
    named = {n for launch in kernel.launches for one in launch.conditionals for n in numbers_in(kernel, one)}
    for size in sorted({number + step for number in named for step in (-1, 0, 1)}):
        for name, axis in kernel.axes.items():
            if size in axis:
                yield from product(({**end, name: size} for end in (ends[0], ends[-1])), tunes)


def numbers_in(kernel: Kernel, value: Expression) -> frozenset[int]:
    """The numbers that an expression names, by way of derived sizes as well."""
    names, found = set(value.names), value.literals
    for name, derived in reversed(kernel.let.items()):  # each needs those before it alone
        if name in names:
            names |= derived.names
            found |= derived.literals
    return found

"""A kernel file and its claim: loading it, the sizes it admits, and binding it to one case.

Knows where kernels lie and what a job is; never what the right answer is, nor how a job is run.
Long, since a kernel's sizes, arrays and jobs are all computed from the same fields.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims import passed
from kfuzz.claims.arrays_in_memory import memory_shape, row_axis_of, unpack_array
from kfuzz.claims.bound import Bound
from kfuzz.claims.corners import corners
from kfuzz.claims.grid_numbers import encode_numbers
from kfuzz.claims.jobs import Arrays, buffer_of, check_derived_dimensions, shapes_of, steps_of
from kfuzz.claims.language import accuracy, kernel_file
from kfuzz.claims.language.arrays import Array, check_roles, read_align, read_arrays
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.expression import Expression, ExpressionError, Total, show_sizes
from kfuzz.claims.language.fitted_op import fit_to_arrays
from kfuzz.claims.language.formula_claims import check_scalars, each_count, evaluate_op_axes, literals_of, read_op_axes
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim, WrittenClaims, parse_claim
from kfuzz.claims.language.launches import Launch, LaunchVariant
from kfuzz.claims.language.op_rules import check_op_rules
from kfuzz.claims.language.reading import ClaimNames, Sizes, at, evaluate
from kfuzz.claims.language.reference import Reference, name_in_case, shown_op
from kfuzz.claims.language.roles import Dimensions, Roles, roles_of
from kfuzz.claims.language.sizes import (
    Broken,
    check_names,
    conditions_in,
    names_of_random,
    read_axes,
    read_broken,
    read_home,
    read_let,
    read_op,
)
from kfuzz.claims.language.variants import EXAMPLE, FEW, SizeDomain, TooManyError
from kfuzz.claims.language.where import Where, read_where
from kfuzz.claims.references.references import resolve
from kfuzz.common.printable import one_line, print_repr
from kfuzz.common.text import exhibits
from kfuzz.devices import Entry, Job, Step
from kfuzz.devices.memory.vast import is_vast
from kfuzz.oracle.accuracy.rounding import Accuracy
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import BY_DTYPE, F32, Element, store, values
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.layout import Shape
from kfuzz.oracle.numbers.verdict import Special
from kfuzz.oracle.op.role import shares_of
from kfuzz.oracle.op.shapes import is_derived, lengths_of, limit_of, longer_by

HOME = Path(__file__).resolve().parent.parent
KERNELS = next(path for path in (HOME / "kernels", HOME.parent / "kernels") if path.is_dir())
"""In the installed package, or beside it in a checkout."""
BROKEN = "broken/"
"""The names of the kernels that are broken on purpose begin with it."""

WITHOUT_FRACTIONS = 1 << 24
"""From here on every float32 is an integer."""
FIRST_DRAW: Sizes = {"seed": 1, "offset": 0}
"""The values of the arguments that choose what is drawn, in the runs of a trial."""


class DoesNotFitError(ValueError):
    """The case has shapes that this kernel does not take."""


@dataclass(frozen=True, repr=False)
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
    """The kernel was written for GPUs before Volta, where the lanes of a warp run in step."""
    launches: tuple[Launch, ...]
    rounding: accuracy.Rounding
    values: accuracy.Domain
    broken: Broken | None
    home: Sizes
    """The shape that a host function was written for; empty if unknown."""
    written: WrittenClaim
    front: FrontMatter
    scalars: Mapping[str, float] = field(default_factory=dict)
    random: Mapping[str, int] = field(default_factory=dict)
    """The arguments that choose what is drawn, with their values; trials have these, and properties try others."""
    op_axes: Mapping[str, Expression] = field(default_factory=dict)
    """The sizes that no array gives the op, such as that of a group."""
    drawn_by: str = ""
    """The name from which cases are drawn, in the place of its own and of its text: so do all answers to one question
    meet the same cases."""
    always_finite: tuple[str, ...] = ()
    """The inputs that get no infinity and no NaN, beside those that the claim leaves out."""

    @classmethod
    def of(cls, front: FrontMatter, claim: WrittenClaim) -> "Kernel":
        """The kernel of a resolved claim; ClaimError if it contradicts itself. It starts, keeps and judges nothing."""
        try:
            roles = roles_of(fitted_op(front, claim))
        except OracleError as error:  # of a file of yours, whose formula was run
            raise front.error(("op",), str(error)) from None
        op = find(roles.op)
        front, claim = front.language.complete(front, claim, roles)
        axes = read_axes(front, claim.axes)
        check_names(front, claim)
        if claim.claims.batch_invariant and claim.claims.deterministic is False:
            raise front.error(("claims", "deterministic"), "batch_invariant = true includes deterministic = true")
        where = read_where(front, claim.where, axes, claim.tune)
        let = read_let(front, claim.let, (*axes, *claim.tune))
        random = {name: FIRST_DRAW[key] for key, name in names_of_random(claim.random).items()}
        check_scalars(front, claim.scalars, op)
        names = ClaimNames((*axes, *claim.tune, *let, *random), conditions_in(let), literals_of(op, claim.scalars))
        arrays = read_arrays(front, claim.arrays, names)
        check_roles(front, roles, arrays, axes)
        op_axes = read_op_axes(front, claim.scalars, op, names)
        launches = front.language.read_launches(front, claim, names, arrays, op)
        types = [one.element for one in arrays.values()]
        function = front.language.function_of(claim)
        kernel = cls(
            name=name_of(front.path),
            op=roles.op,
            axes=axes,
            tune=dict(claim.tune),
            where=where,
            let=let,
            arrays=arrays,
            align=read_align(front, claim.align, arrays),
            warp_synchronous=bool(claim.warp_synchronous),
            launches=launches,
            rounding=accuracy.read_rounding(
                front,
                claim.accuracy,
                op,
                names,
                types,
                accuracy.read_quantizing(front, claim.quantize, op),
                claim.claims.rounds,
                claim.libraries.arithmetic if claim.libraries else accuracy.CUDA,
            ),
            values=accuracy.read_values(front, claim.values, op),
            broken=read_broken(front, claim.broken, is_exhibit=name_of(front.path).startswith(BROKEN)),
            home=read_home(front, function.home if function else None, axes),
            written=claim,
            front=front,
            scalars={name: float(value) for name, value in claim.scalars.items() if name not in op.axes},
            random=random,
            op_axes=op_axes,
        )
        _ = kernel.entries  # each expression in an entry has a few values
        return kernel

    def __repr__(self) -> str:
        return f"<Kernel {self.name}, {self.op}, {self.path}>"

    _repr_pretty_ = print_repr

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
    def claims(self) -> WrittenClaims:
        """What users may rely on besides the answer to one input."""
        return self.written.claims

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

    @property
    def reference(self) -> Reference | None:
        """The reference that the op was made from, so that its findings are only suspect."""
        return self.written.reference if self.written.is_reference else None

    @property
    def op_in_case(self) -> str:
        """The op as a case names it."""
        return name_in_case(self.op, self.written.reference)

    @property
    def shown_op(self) -> str:
        """The op as the reader sees it."""
        return shown_op(self.op, self.written.reference)

    def computes(self, op: str, dimensions: Mapping[str, Dimensions]) -> bool:
        """Whether an op as a case names it, with arrays of these dimensions, is this kernel's."""
        return op == self.op_in_case and dict(dimensions) == self.roles.inputs

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry that a launch may name, whatever the sizes."""
        return tuple(dict.fromkeys(one.entry for one in self.every_variant))

    @cached_property
    def every_variant(self) -> tuple[LaunchVariant, ...]:
        """Every launch with every entry that it may name; ClaimError if one has too many."""
        listed = {name: axis.listed for name, axis in self.axes.items() if axis.listed}
        ends = {name: (axis.lo, axis.hi) for name, axis in self.axes.items()}
        found: list[LaunchVariant] = []
        for launch in self.launches:
            try:
                found += launch.variants(SizeDomain(ends, {**listed, **self.tune}, self.let), self.where)
            except (TooManyError, RecursionError) as error:
                known = ", ".join((*listed, *self.tune)) or "none"
                reason = f"'{{{error}}}' has more than {FEW} values, and each is compiled"
                wanted = f"write a tune parameter or an axis of listed sizes (this claim has {known}), or {EXAMPLE}"
                raise self.front.error(launch.keys.function, f"{reason}; {wanted}") from None
        return tuple(found)

    def variants(self, tune: Sizes) -> tuple[LaunchVariant, ...]:
        """The launches and entries between which the sizes choose, with these values of tune."""
        values = tuple(tune.items())
        if values not in self._variants:
            self._variants[values] = self._choices(tune)
        return self._variants[values]

    @cached_property
    def _variants(self) -> dict[tuple[tuple[str, int], ...], tuple[LaunchVariant, ...]]:
        """The variants by tune, since every trial asks for them."""
        return {}

    def _choices(self, tune: Sizes) -> tuple[LaunchVariant, ...]:
        fitting = [one for one in self.every_variant if all(tune.get(name, n) == n for name, n in one.few.items())]
        distinct = {(id(one.launch), one.entry): one for one in fitting}
        of_launch = Counter(launch for launch, _ in distinct)
        return tuple(one for (launch, _), one in distinct.items() if one.launch.when or of_launch[launch] > 1)

    @cached_property
    def literals(self) -> frozenset[int]:
        """The numbers in the claim's expressions of sizes and launches."""
        claimed = [*self.let.values(), *(size for array in self.arrays.values() for size in array.shape)]
        claimed += [one for it in self.launches for one in (*it.grid, *it.block, it.shared, *it.conditionals)]
        return frozenset[int]().union(*(expression.literals for expression in claimed))

    @cached_property
    def elements(self) -> Total:
        """The number of values in a case, inputs and outputs of the op together."""
        return Total(tuple(array.shape for array in self.arrays.values() if array.reads or array.writes))

    @cached_property
    def gathered(self) -> Total:
        """The number of values that a kernel reads if it follows each index of a case once, as through a page table."""
        below = {role: frozenset([size]) for role, size in self.roles.integers.items() if size}
        below |= {role: one.names for role, one in self.roles.structures.items() if not one.is_segments}
        reads = [array for array in self.arrays.values() if array.reads]
        return Total(
            tuple(
                (*index.shape, *array.shape[1:])
                for index in reads
                for array in reads
                if array is not index and frozenset([array.shape[0].text]) == below.get(str(index.reads))
            )
        )

    def sizes(self, axes: Sizes, tune: Sizes) -> dict[str, int]:
        """Axes, tune, seeds and let together."""
        sizes = {**axes, **tune, **self.random}
        for name, value in self.let.items():
            try:
                sizes[name] = value(sizes)
            except ExpressionError as error:
                raise self.front.error(("let", name), str(error)) from None
        return sizes

    def admits(self, axes: Sizes) -> bool:
        """Whether the claim covers these sizes with at least one tune."""
        fits = axes.keys() == self.axes.keys() and all(axes[name] in axis for name, axis in self.axes.items())
        return fits and next(self.tunes(axes), None) is not None

    def takes(self, inputs: Arrays, tune: Sizes) -> bool:
        """Whether the claim covers inputs of these sizes with this launch."""
        try:
            axes = self.axes_of(inputs)
        except DoesNotFitError:
            return False
        return self.admits(axes) and not self.where.broken({**axes, **tune})

    def tunes(self, axes: Sizes) -> Iterator[dict[str, int]]:
        """The tune values with which these sizes may be launched."""
        for chosen in product(*self.tune.values()):
            tune = dict(zip(self.tune, chosen, strict=True))
            if not self.where.broken({**axes, **tune}):
                yield tune

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """This kernel's axes, computed from the shapes of the op's inputs, dimension by dimension."""
        read = [array for array in self.arrays.values() if array.reads]
        shapes = [fit_shape(array, inputs[str(array.reads)].shape, self.roles.takes_vector) for array in read]
        placed = [
            (size.text, given)
            for array, shape in zip(read, shapes, strict=True)
            for size, given in zip(array.shape, shape, strict=True)
        ]
        found = lengths_of(placed)
        axes = {name: found[name] for name in self.axes}
        for array, shape in zip(read, shapes, strict=True):
            if shape != tuple(size(axes) for size in array.shape):
                raise DoesNotFitError(f"{self.name} takes {array}; the case has {list(shape)} there")
        return axes

    def derived_sizes(self, dimensions: Sizes) -> dict[str, int]:
        """The op's dimensions that follow from the axes, such as the groups of a row, for these sizes of the others."""
        pairs = [
            (dimension, size)
            for array in self.arrays.values()
            if array.reads and len(array.shape) == len(self.roles.inputs[array.reads])
            for dimension, size in zip(self.roles.inputs[array.reads], array.shape, strict=True)
        ]
        own = {name for name, size in pairs if size.text in self.axes and not is_derived(name)}
        axes = {size.text: int(name) if name.isdigit() else dimensions[name] for name, size in pairs if name in own}
        for name, size in pairs:
            longer, text = longer_by(name), longer_by(size.text)
            if longer and text and longer[1] == text[1] and text[0] in self.axes:
                axes.setdefault(text[0], dimensions[longer[0]])
        if axes.keys() != self.axes.keys():
            return {}
        return {name: size(axes) for name, size in pairs if name not in own and not name.isdigit()}

    def accuracy(self, sizes: Sizes) -> Accuracy:
        """The claimed rounding at these sizes (axes, tune and let, as `sizes` returns them)."""
        for name, counts in (("adds", self.rounding.adds), ("rescales", self.rounding.rescales)):
            for place, count in each_count(name, counts):
                if evaluate(self.front, place, count, sizes) < 0:
                    raise self.front.error(place, f"{count(sizes)} {at(sizes)}; a count is 0 or more")
        return accuracy.accuracy_for(self.rounding, sizes)

    def stored(self, inputs: Arrays) -> dict[str, NDArray[np.generic]]:
        """A case's numbers as this kernel stores them: rounded to its element types; integers modulo their limit; or
        what the op's file makes in their place.
        """
        elements = {str(array.reads): array.element for array in self.arrays.values() if array.reads}
        make, is_filled = find(self.op).make_inputs, not any(map(is_vast, inputs.values()))
        made = make(inputs) if make is not None and is_filled else {}
        sizes = lengths_of(
            pair for role, dims in self.roles.inputs.items() for pair in zip(dims, inputs[role].shape, strict=False)
        )
        if self.bounding & find(self.op).axes.keys():
            sizes |= self.limits(self.axes_of(inputs))
        with np.errstate(all="ignore"):  # a number beyond a narrow format becomes infinite
            return {
                role: store_made(made[role].reshape(given.shape), elements[role])
                if role in made
                else self.store_array(role, given, elements[role], sizes)
                for role, given in inputs.items()
            }

    @property
    def bounding(self) -> frozenset[str]:
        """The dimensions that bound integers."""
        return frozenset(self.roles.integers.values()).union(*(one.names for one in self.roles.structures.values()))

    def limits(self, axes: Sizes) -> dict[str, int]:
        """The sizes that no array gives and below which integers stay, such as a number of experts."""
        op, found = find(self.op), {}
        for name in self.bounding & op.axes.keys():
            size, usual = self.op_axes.get(name), op.axes[name]
            if size is not None and size.names <= self.axes.keys():
                found[name] = size(axes)
            else:  # what hangs on tune is not known here: 0 is below any size
                found[name] = usual if size is None and isinstance(usual, int) else 1
        return found

    def store_array(self, role: str, given: NDArray[np.generic], element: Element, sizes: Sizes) -> NDArray[np.generic]:
        """One array of a case as this kernel stores it."""
        if is_vast(given):
            return given  # zeros of any type
        if given.dtype != np.float32:
            if given.dtype not in BY_DTYPE or not BY_DTYPE[given.dtype].is_narrow:
                raise TypeError(f"{role}: dtype={given.dtype}; the inputs of a case are float32, or of a narrow type")
            return given if given.dtype == element.dtype else store(values(given), element)
        if structure := self.roles.structures.get(role):
            return structure.arrange(given, sizes).astype(element.dtype, copy=False)
        if element.is_narrow and not self.roles.integers.get(role):
            return encode_numbers(given.astype(np.float32, copy=False), element)
        if role in self.roles.integers:
            limit = limit_of(self.roles.integers[role], sizes)
            most = 100 if limit is None else max(limit, 1)
            most = min(most, int(np.iinfo(element.dtype).max) + 1) if np.issubdtype(element.dtype, np.integer) else most
            return whole_numbers(given, most).astype(element.dtype, copy=False)
        if find(self.roles.op).inputs[role].is_share:
            return store(shares_of(values(given)), element)
        if find(self.roles.op).inputs[role].is_uniform:
            return store(uniform_numbers(given, element), element)
        return given if element is F32 else store(values(given), element)

    def scalars_at(self, sizes: Sizes) -> dict[str, float | str]:
        """The claim's constants, and the sizes that no array gives the op, at these sizes."""
        is_full = all(sizes[axis] for axis in self.axes)
        return {**self.scalars, **evaluate_op_axes(self.front, find(self.op), self.op_axes, sizes, is_full)}

    def shapes(self, sizes: Sizes) -> dict[str, Shape]:
        """The shape of each array at these sizes."""
        shapes = shapes_of(self.front, self.roles, self.arrays, sizes)
        if self.roles.has_derived_dimensions or find(self.op).axes:
            check_derived_dimensions(self.front, self.roles, self.arrays, shapes, self.scalars_at(sizes))
        return shapes

    def steps(self, sizes: Sizes, shapes: Mapping[str, Shape]) -> tuple[Step, ...]:
        """The launches that are made at these sizes."""
        memory = {name: memory_shape(self.arrays[name], shape) for name, shape in shapes.items()}
        memory |= {name: (one.slots(sizes), *shapes[name][1:]) for name, one in self.arrays.items() if one.slots}
        return steps_of(self.front, self.launches, self.arrays, sizes, memory)

    def bind(self, inputs: Arrays, tune: Sizes) -> Bound:
        """This kernel on these inputs, ready to run; ClaimError if the claim gives no launch."""
        if tune.keys() != self.tune.keys() or any(tune[name] not in self.tune[name] for name in tune):
            raise ValueError(f"tune={dict(tune)}: {self.name} claims {self.tune or 'no tune parameters'}")
        axes = self.axes_of(inputs)
        if broken := self.where.broken({**axes, **tune}):
            raise ValueError(f"{show_sizes({**axes, **tune}, broken[0].names)}: {self.name} claims {broken[0].text}")
        sizes = self.sizes(axes, tune)
        shapes = self.shapes(sizes)
        given = self.stored(inputs)
        returned = {name for launch in self.launches for name in launch.returns}
        buffers = [
            buffer_of(
                self.front,
                name,
                self.arrays[name],
                shape,
                given,
                sizes,
                is_returned=name in returned,
                may_write_absent=self.claims.writes_absent_rows,
            )
            for name, shape in shapes.items()
        ]
        buffers.sort(key=lambda buffer: buffer.is_returned)  # after those that kfuzz places itself
        job = Job(
            kernel=self.name,
            path=self.path,
            source=self.source,
            flags=self.flags,
            align=self.align,
            buffers=tuple(buffers),
            steps=self.steps(sizes, shapes),
            entries=self.entries,
            warp_synchronous=self.warp_synchronous,
            runner=self.front.language.runner,
            through=self.front.language.through,
        )
        return Bound(axes, sizes, self.accuracy(sizes), self.scalars_at(sizes), job, given)

    def outputs(self, outputs: Arrays, sizes: Sizes, rows: int | None = None) -> dict[str, NDArray[np.generic]]:
        """The outputs of a run at these sizes, by role, in elements; or of so many of its rows."""
        written = {name: array for name, array in self.arrays.items() if array.writes}
        return {
            str(array.writes): (outputs[name][: array.shape[0](sizes)] if array.slots else outputs[name])
            if array.is_plain
            else unpack_array(array, outputs[name], self._shape_of_rows(array, sizes, rows))
            for name, array in written.items()
        }

    def _shape_of_rows(self, array: Array, sizes: Sizes, rows: int | None) -> Shape:
        """The shape of an array, or of so many of its rows."""
        shape = tuple(size(sizes) for size in array.shape)
        axis = row_axis_of(self.roles, array)
        return shape if rows is None or axis is None else (*shape[:axis], rows, *shape[axis + 1 :])


def load(path: Path | str) -> Kernel:
    """Read a kernel file; ClaimError, in one line, if its claim is wrong or contradicts itself."""
    return read(kernel_file.read(Path(path)))


@lru_cache(maxsize=1024)
def read(front: FrontMatter) -> Kernel:
    """The kernel of a front matter and its source, once its claim is parsed, resolved and checked at some sizes.

    Each text is read once.
    """
    kernel = Kernel.of(front, resolve(front, parse_claim(front)))
    check_corners(Claimed(facts_of(kernel), kernel))
    return kernel


@dataclass(frozen=True)
class Claimed:
    """A kernel that equals every other one whose claim says the same about sizes, whatever its code."""

    facts: str
    kernel: Kernel = field(compare=False)


NO_FACTS = ("name", "broken", "written", "front")


def facts_of(kernel: Kernel) -> str:
    """All that decides whether a claim contradicts itself at some sizes: its text too, if that may name other files."""
    rounding = replace(kernel.rounding, read_off=(), doubts=())  # these have lines of the file
    parts = {one.name: getattr(kernel, one.name) for one in fields(kernel) if one.name not in NO_FACTS}
    facts = repr(parts | {"rounding": rounding})
    return f"{kernel.front.path}\n{kernel.source}\n{facts}" if kernel.front.language.reads_other_files else facts


@lru_cache(maxsize=1024)
def check_corners(claimed: Claimed) -> None:
    """`try_corners`, once for each claim.

    A convolution takes 0.5 s, so it is checked once with all the exhibits that are edits of its code.
    """
    kernel = claimed.kernel
    if kernel.front.language.reads_other_files or kernel.op.endswith(".py"):
        try_corners(kernel)
    elif not passed.has_passed(claimed.facts):
        with passed.one_at_a_time():
            if not passed.has_passed(claimed.facts):
                try_corners(kernel)
                passed.note(claimed.facts)


def try_corners(kernel: Kernel) -> None:
    """Raise a ClaimError if the claim contradicts itself at sizes where that is likely."""
    check_op_rules(kernel.front, find(kernel.op), kernel.where, kernel.arrays, kernel.let, kernel.op_axes)
    for corner, choice in corners(kernel.where, kernel.launches, kernel.let):
        sizes = kernel.sizes(corner, choice)
        kernel.steps(sizes, kernel.shapes(sizes))
        kernel.accuracy(sizes)


def store_made(given: NDArray[np.generic], element: Element) -> NDArray[np.generic]:
    """An array that an op's file makes, as a kernel stores it."""
    if not element.is_float:
        return given.astype(element.dtype)
    if element.is_narrow:
        return encode_numbers(given.astype(np.float32), element)
    return store(given.astype(np.float64), element)


def fitted_op(front: FrontMatter, claim: WrittenClaim) -> str:
    """The op over the arrays that the kernel has."""
    op = read_op(front, claim.op)
    if claim.arrays is not None:
        return fit_to_arrays(op, claim.arrays)
    return front.language.fit_op(front, claim, op)


def whole_numbers(given: NDArray[np.generic], most: int) -> NDArray[np.int64]:
    """Any numbers as integers from 0 to below `most`."""
    numbers = np.nan_to_num(values(given), nan=0.0, posinf=0.0, neginf=0.0)
    return np.asarray(np.mod(np.rint(np.abs(numbers)), min(most, 1 << 63)), dtype=np.int64)


def uniform_numbers(given: NDArray[np.generic], element: Element) -> NDArray[np.float64]:
    """Any numbers as numbers from 0 to below 1: their fractions, and for large ones the greatest below 1."""
    numbers = np.abs(np.nan_to_num(values(given)))
    largest = 1 - element.u
    return np.where(numbers < WITHOUT_FRACTIONS, np.minimum(element.round(np.mod(numbers, 1.0)), largest), largest)


def kernel_files(folder: Path = KERNELS) -> tuple[Path, ...]:
    """Every kernel file below the folder, by name."""
    return exhibits.list_kernel_files(folder)


def correct_kernel_files() -> tuple[Path, ...]:
    """The files of kfuzz's own kernels that are not broken on purpose: to read the others takes seconds."""
    return tuple(path for path in kernel_files() if not name_of(path).startswith(BROKEN))


def discover(folder: Path = KERNELS) -> tuple[Kernel, ...]:
    """Every kernel below the folder, by name."""
    return tuple(load(path) for path in kernel_files(folder))


def name_of(path: Path) -> str:
    """`softmax/online_block` for one of kfuzz's own files, the file's name for any other."""
    full = path.resolve()
    if ":" in full.name:  # a callable in a module
        return one_line(full.name)
    return one_line(full.relative_to(KERNELS).with_suffix("").as_posix() if full.is_relative_to(KERNELS) else full.stem)


def fit_shape(array: Array, shape: Shape, takes_vector: bool) -> Shape:
    """The shape of an input, with the row dimension added or dropped to match the kernel's array."""
    if len(shape) == len(array.shape):
        return shape
    if takes_vector and len(array.shape) == 2 and len(shape) == 1:
        return (1, *shape)
    if takes_vector and len(array.shape) == 1 and len(shape) == 2 and shape[0] == 1:
        return shape[1:]
    raise DoesNotFitError(f"the kernel takes {array}; the case has {list(shape)}")

"""A kernel file and its claim: loading it, the sizes it admits, and binding it to one case.

Knows where kernels lie and what a job is; never what the right answer is, nor how a job is run.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fuzz import claim, front_matter
from fuzz.claim import INT_MAX, Array, Axis, Broken, Launch
from fuzz.devices import Buffer, ClaimError, Job, Step
from fuzz.expression import Expression, ExpressionError, show_sizes
from fuzz.front_matter import FrontMatter, KeyPath
from fuzz.roles import Roles, roles_of
from fuzz.rounding_claim import Rounding, Values, accuracy_for, read_rounding, read_values
from fuzz.signature import entries_of
from oracle.rounding import Accuracy
from oracle.verdict import Special

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
SHARED_MAX = 227 * 1024
GRID_MAX = (INT_MAX, 65535, 65535)
BLOCK_MAX = (1024, 1024, 64)
THREADS_MAX = 1024
MOST_TUNES = 64
Arrays = Mapping[str, NDArray[np.generic]]


class DoesNotFitError(ValueError):
    """The case has sizes for which this kernel claims nothing."""


@dataclass(frozen=True)
class Kernel:
    """One `.cu` file with its claim."""

    name: str
    op: str
    axes: dict[str, Axis]
    tune: dict[str, tuple[int, ...]]
    let: dict[str, Expression]
    arrays: dict[str, Array]
    align: int
    launches: tuple[Launch, ...]
    rounding: Rounding
    values: Values
    broken: Broken | None
    front: FrontMatter = field(repr=False)

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

    @property
    def entries(self) -> tuple[str, ...]:
        """Every entry that a launch may name: one for each value of the tune parameters it depends on."""
        every = (
            filled(launch.entry, tune) for launch in self.launches for tune in tunes(self.tune, launch.entry)
        )
        return tuple(dict.fromkeys(every))

    def sizes(self, axes: Mapping[str, int], tune: Mapping[str, int]) -> dict[str, int]:
        """Axes, tune and let together."""
        sizes = {**axes, **tune}
        for name, value in self.let.items():
            sizes[name] = self.number(("let", name), value, sizes)
        return sizes

    def admits(self, axes: Mapping[str, int]) -> bool:
        """Whether the claim speaks of these sizes."""
        return axes.keys() == self.axes.keys() and all(axes[name] in axis for name, axis in self.axes.items())

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """The axes that the shapes of the op's inputs mean for this kernel, dimension by dimension."""
        axes: dict[str, int] = {}
        shapes = {
            array.reads: shape_for(self, array, inputs) for array in self.arrays.values() if array.reads
        }
        for array in self.arrays.values():
            for wanted, size in zip(array.shape, shapes.get(str(array.reads), ()), strict=False):
                if wanted.text in self.axes and axes.setdefault(wanted.text, size) != size:
                    raise DoesNotFitError(
                        f"{self.name}: {wanted.text} is {axes[wanted.text]} and {size} in one case"
                    )
        for array in self.arrays.values():
            if array.reads and shapes[array.reads] != tuple(size(axes) for size in array.shape):
                raise DoesNotFitError(
                    f"{self.name}: {array.reads} has shape {shapes[array.reads]}, not {written(array)}"
                )
        return axes

    def accuracy(self, sizes: Mapping[str, int]) -> Accuracy:
        """What is claimed of the rounding at these sizes (axes, tune and let, as `sizes` gives them)."""
        for name, count in (("adds", self.rounding.adds), ("rescales", self.rounding.rescales)):
            if count is not None and self.number(("accuracy", name), count, sizes) < 0:
                raise self.error(("accuracy", name), f"is negative for {show_sizes(sizes, count.names)}")
        return accuracy_for(self.rounding, sizes)

    def bind(self, inputs: Arrays, axes: Mapping[str, int], tune: Mapping[str, int]) -> Job:
        """The job that runs this kernel on these inputs; ClaimError where the claim leads to no launch."""
        check_tune(self, tune)
        if self.axes_of(inputs) != dict(axes):
            raise DoesNotFitError(f"{self.name}: the case has {self.axes_of(inputs)}, not {dict(axes)}")
        sizes = self.sizes(axes, tune)
        shapes = shapes_of(self, sizes)
        buffers = tuple(buffer(name, array, shapes[name], inputs) for name, array in self.arrays.items())
        return Job(
            kernel=self.name,
            path=self.path,
            source=self.source,
            flags=self.flags,
            align=self.align,
            buffers=buffers,
            steps=steps_of(self, sizes, shapes),
            entries=self.entries,
        )

    def outputs(self, outputs: Arrays) -> dict[str, NDArray[np.generic]]:
        """The outputs of a run, by role."""
        return {array.writes: outputs[name] for name, array in self.arrays.items() if array.writes}

    def number(self, key: KeyPath, value: Expression, sizes: Mapping[str, int]) -> int:
        try:
            return value(sizes)
        except ExpressionError as error:
            raise self.error(key, str(error)) from None

    def error(self, key: KeyPath, found: str) -> ClaimError:
        return self.front.error(key, found)


def load(path: Path | str) -> Kernel:
    """Read a kernel file; ClaimError, in one line, where its claim is wrong or contradicts itself."""
    front = front_matter.read(Path(path))
    claim.check_keys(front, (), claim.KEYS)
    op = claim.read_op(front)
    axes = claim.read_axes(front)
    tune = claim.read_tune(front)
    claim.check_names(front)
    let = claim.read_let(front, (*axes, *tune))
    names = (*axes, *tune, *let)
    arrays = claim.read_arrays(front, names)
    claim.check_roles(front, op, roles_of(op), arrays, axes)
    kernel = Kernel(
        name=name_of(front.path),
        op=op,
        axes=axes,
        tune=tune,
        let=let,
        arrays=arrays,
        align=claim.read_align(front, arrays),
        launches=claim.read_launches(front, names, arrays, entries_of(front.source), tune),
        rounding=read_rounding(front, names),
        values=read_values(front),
        broken=claim.read_broken(front),
        front=front,
    )
    for axis_sizes, tune_sizes in corners(kernel):
        check_sizes(kernel, axis_sizes, tune_sizes)
    return kernel


def kernel_files(folder: Path = KERNELS) -> tuple[Path, ...]:
    """Every kernel file below the folder, by name."""
    return tuple(sorted(folder.rglob("*.cu")))


def discover(folder: Path = KERNELS) -> tuple[Kernel, ...]:
    """Every kernel below the folder, by name."""
    return tuple(load(path) for path in kernel_files(folder))


def name_of(path: Path) -> str:
    """`softmax/online_block` for a file of ours, the file's own name for any other."""
    full = path.resolve()
    return full.relative_to(KERNELS).with_suffix("").as_posix() if full.is_relative_to(KERNELS) else full.stem


def filled(entry: str, tune: Mapping[str, int]) -> str:
    """The entry with each `{name}` replaced by that tune parameter's value."""
    return re.sub(r"\{(\w+)\}", lambda hole: str(tune[hole[1]]), entry)


def tunes(tune: Mapping[str, tuple[int, ...]], entry: str) -> Iterator[dict[str, int]]:
    """Every choice of the tune parameters that the entry names."""
    used = [name for name in tune if f"{{{name}}}" in entry]
    for values in product(*(tune[name] for name in used)):
        yield dict(zip(used, values, strict=True))


def written(array: Array) -> str:
    return f"{array.element}[{', '.join(size.text for size in array.shape)}]"


def check_tune(kernel: Kernel, tune: Mapping[str, int]) -> None:
    wanted = {name: list(values) for name, values in kernel.tune.items()}
    if tune.keys() != wanted.keys() or any(tune[name] not in values for name, values in wanted.items()):
        raise ValueError(f"tune={dict(tune)}: {kernel.name} claims {wanted or 'no tune parameter'}")


def shape_for(kernel: Kernel, array: Array, inputs: Arrays) -> tuple[int, ...]:
    """The shape of the input that the array is read for, with the row of a by-row op added or left out to fit."""
    shape = inputs[str(array.reads)].shape
    rank = len(array.shape)
    if len(shape) == rank:
        return shape
    if kernel.roles.takes_vector and rank == 2 and len(shape) == 1:
        return (1, *shape)
    if kernel.roles.takes_vector and rank == 1 and len(shape) == 2 and shape[0] == 1:
        return shape[1:]
    raise DoesNotFitError(f"{kernel.name}: {array.reads} has shape {shape}, not {written(array)}")


def shapes_of(kernel: Kernel, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The shape of every array, checked against the op's dimensions."""
    shapes: dict[str, tuple[int, ...]] = {}
    letters: dict[str, int] = {"1": 1}
    for name, array in kernel.arrays.items():
        shapes[name] = tuple(kernel.number(("arrays", name), size, sizes) for size in array.shape)
        if any(size < 0 for size in shapes[name]):
            raise kernel.error(("arrays", name), f"shape {list(shapes[name])} for {show_sizes(sizes, sizes)}")
    for name, array in kernel.arrays.items():
        for role, dimensions in ((array.reads, kernel.roles.inputs), (array.writes, kernel.roles.outputs)):
            if role is not None:
                check_dimensions(kernel, name, role, dimensions[role], shapes[name], letters, sizes)
    return shapes


def check_dimensions(
    kernel: Kernel, name: str, role: str, dimensions: tuple[str, ...], shape: tuple[int, ...],
    letters: dict[str, int], sizes: Mapping[str, int],
) -> None:  # fmt: skip
    """A dimension letter of the op has one size in all arrays."""
    full = (1,) * (len(dimensions) - len(shape)) + shape
    for letter, size in zip(dimensions, full, strict=True):
        if letters.setdefault(letter, size) != size:
            found = f"'{role}' of {kernel.op} is [{', '.join(dimensions)}]"
            raise kernel.error(
                ("arrays", name),
                f"{found}, but {letter} is {letters[letter]} and {size} for {show_sizes(sizes, sizes)}",
            )


def buffer(name: str, array: Array, shape: tuple[int, ...], inputs: Arrays) -> Buffer:
    content = None
    if array.reads:
        given = inputs[array.reads]
        if given.dtype != np.float32:
            raise TypeError(f"{array.reads}: dtype {given.dtype}; the inputs of an op are float32")
        content = np.ascontiguousarray(given).reshape(shape)
    return Buffer(name, array.element, shape, content, array.fill, array.writes is not None)


def steps_of(
    kernel: Kernel, sizes: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[Step, ...]:
    """The launches whose `when` holds, within the limits of CUDA; together they are handed every output."""
    chosen = [
        (index, launch)
        for index, launch in enumerate(kernel.launches)
        if launch.when is None or kernel.number(("launch", index, "when"), launch.when, sizes)
    ]
    taken = {arg for _, launch in chosen for arg in launch.args}
    for name, array in kernel.arrays.items():
        if array.writes and name not in taken and prod(shapes[name]):
            raise kernel.error(("arrays", name), f"no launch takes '{name}' for {show_sizes(sizes, sizes)}")
    return tuple(step_of(kernel, ("launch", index), launch, sizes) for index, launch in chosen)


def step_of(kernel: Kernel, key: KeyPath, launch: Launch, sizes: Mapping[str, int]) -> Step:
    grid = dimensions_of(kernel, (*key, "grid"), launch.grid, GRID_MAX, sizes)
    block = dimensions_of(kernel, (*key, "block"), launch.block, BLOCK_MAX, sizes)
    if prod(block) > THREADS_MAX:
        found = f"{prod(block)} threads for {show_sizes(sizes, sizes)}; a block has at most {THREADS_MAX}"
        raise kernel.error((*key, "block"), found)
    shared = kernel.number((*key, "shared"), launch.shared, sizes)
    if not 0 <= shared <= SHARED_MAX:
        found = f"{shared} bytes for {show_sizes(sizes, sizes)}; a block has 0 to {SHARED_MAX}"
        raise kernel.error((*key, "shared"), found)
    args = tuple(
        arg if arg in kernel.arrays else c_int(kernel, (*key, "args"), arg, sizes) for arg in launch.args
    )
    return Step(filled(launch.entry, sizes), grid, block, shared, args)


def dimensions_of(
    kernel: Kernel,
    key: KeyPath,
    sizes: tuple[Expression, ...],
    most: tuple[int, int, int],
    known: Mapping[str, int],
) -> tuple[int, int, int]:
    values = [kernel.number(key, size, known) for size in sizes]
    for axis, value, limit in zip("xyz", values, most, strict=False):
        if not 1 <= value <= limit:
            raise kernel.error(key, f"{axis} is {value} for {show_sizes(known, known)}; it is 1 to {limit}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def c_int(kernel: Kernel, key: KeyPath, name: str, sizes: Mapping[str, int]) -> int:
    if not -INT_MAX - 1 <= sizes[name] <= INT_MAX:
        found = f"'{name}' is {sizes[name]} for {show_sizes(sizes, sizes)}; sizes are passed as C ints"
        raise kernel.error(key, found)
    return sizes[name]


def check_sizes(kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> None:
    """All that the claim computes has a sound value at these sizes."""
    sizes = kernel.sizes(axes, tune)
    steps_of(kernel, sizes, shapes_of(kernel, sizes))
    kernel.accuracy(sizes)


def corners(kernel: Kernel) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """The sizes at which a claim is likeliest to contradict itself.

    Every corner of the axes with every tune value; and beside each number that a `when` names, since a gap or an
    overlap of the variants begins there.
    """
    ends = [
        dict(zip(kernel.axes, sizes, strict=True))
        for sizes in product(*((a.lo, a.hi) for a in kernel.axes.values()))
    ]
    first, last = ({name: values[end] for name, values in kernel.tune.items()} for end in (0, -1))
    if prod(len(values) for values in kernel.tune.values()) <= MOST_TUNES:
        every_tune = [
            dict(zip(kernel.tune, values, strict=True)) for values in product(*kernel.tune.values())
        ]
    else:
        every_tune = [first, last]
    yield from product(ends, every_tune)
    numbers = {number for launch in kernel.launches if launch.when for number in launch.when.literals}
    near = sorted({number + step for number in numbers for step in (-1, 0, 1)})
    for name, axis in kernel.axes.items():
        for size in near:
            if size in axis:
                yield from product(({**end, name: size} for end in (ends[0], ends[-1])), (first, last))

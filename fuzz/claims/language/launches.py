"""The launches of a claim, read from the front matter and checked against the functions of the source.

Knows how a launch is written; never how one is run, nor the limits of a GPU.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from kfuzz.claims.language import arguments, expression
from kfuzz.claims.language.expression import Expression, Total
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.keys import WrittenClaim, WrittenHost, WrittenLaunch
from kfuzz.claims.language.reading import ClaimNames, Sizes, checked, read_number, required
from kfuzz.claims.language.signature import Parameters, entries_of, host_functions_of
from kfuzz.claims.language.variants import SizeDomain, values_of
from kfuzz.claims.language.where import Where
from kfuzz.common.text.cuda_text import split_commas
from kfuzz.common.text.headers import sources
from kfuzz.devices import Call, Entry, PythonCall

EXAMPLE = '[[launch]], then entry = "name", grid = "rows", block = 256, args = ["y", "x", "rows", "cols"]'
HOLE = re.compile(r"\{(.*?)\}")
"""An expression in an entry."""


@dataclass(frozen=True)
class LaunchKeys:
    """The keys that errors of a launch name: the launch, its function, its cluster if the claim has one."""

    launch: KeyPath
    function: KeyPath
    cluster: KeyPath = ()


@dataclass(frozen=True)
class Launch:
    """One launch. `entry` may hold expressions for template arguments, as in `block_sum<{threads}>`: its `holes`.

    `args` are the arrays and sizes that are passed to the function, or to the C++ that makes its arguments; `widths`
    are the bytes of sizes that are not passed as a C int.
    """

    keys: LaunchKeys
    entry: str
    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    shared: Expression
    args: tuple[str, ...]
    when: Expression | None = None
    cluster: tuple[Expression, ...] = ()
    """The number of blocks in a cluster along each axis; empty without clusters."""
    cooperative: bool = False
    """Whether all blocks run at once."""
    made: arguments.Arguments | None = None
    on_host: bool = False
    returns: tuple[str, ...] = ()
    """The outputs that a function of tensors, or a Python callable, returns, in this order."""
    called: PythonCall | None = None
    widths: Mapping[str, int] = field(default_factory=dict)
    holes: Mapping[str, Expression] = field(default_factory=dict)
    """The expressions in `entry`, each by its text."""

    @property
    def conditionals(self) -> tuple[Expression, ...]:
        """The conditions that choose between launches and between entries."""
        return (*((self.when,) if self.when else ()), *self.holes.values())

    @cached_property
    def threads(self) -> Total:
        """The number of its threads."""
        return Total(((*self.grid, *self.block),))

    @property
    def shown_args(self) -> str:
        """The arguments as the claim writes them."""
        if self.called:
            return ", ".join(self.called.arguments)
        return ", ".join(self.made.texts if self.made else self.args)

    def is_made(self, sizes: Sizes) -> bool:
        """Whether it is made at these sizes."""
        return self.when is None or bool(self.when(sizes))

    def entry_for(self, sizes: Sizes) -> Entry:
        """The entry with each of its expressions replaced by its value."""
        return self.entry_with([value(sizes) for value in self.holes.values()])

    def entry_with(self, values: Iterable[int]) -> Entry:
        """The entry with these values for its expressions."""
        if self.called:
            return self.called
        texts = dict(zip(self.holes, values, strict=True))
        function = HOLE.sub(lambda hole: str(texts[hole[1]]), self.entry)
        if self.made is None:
            return function
        return Call(function, self.made.texts, self.made.declared, self.on_host, self.made.tensors)

    def variants(self, domain: SizeDomain, where: Where) -> tuple["LaunchVariant", ...]:
        """Every entry that it may name, if `when` and the conditions of `where` allow it."""
        if not self.holes:
            return (LaunchVariant(self, self.entry_with(()), {}),)
        every = values_of(tuple(self.holes.values()), self.when, domain)
        return tuple(LaunchVariant(self, self.entry_with(values), few) for values, few in every if where.allows(few))


@dataclass(frozen=True)
class LaunchVariant:
    """A launch with one of its possible entries, and the values of tune and listed axes that select it."""

    launch: Launch
    entry: Entry
    few: Sizes

    def is_chosen(self, sizes: Sizes) -> bool:
        """Whether these sizes select this variant."""
        return self.launch.is_made(sizes) and (not self.launch.holes or self.launch.entry_for(sizes) == self.entry)


def read_launches(
    front: FrontMatter, claim: WrittenClaim, names: ClaimNames, arrays: arguments.ClaimedArrays, unused: frozenset[str]
) -> tuple[Launch, ...]:
    """The launches of a claim, or the host function that makes them. `unused`: inputs that no launch has to take."""
    wanted = {name: one for name, one in arrays.items() if one.writes or one.reads not in unused}
    if claim.host:
        if claim.launch is not None:
            raise front.error(("host",), "the host launches what it needs; leave out [[launch]], or [host]")
        host = read_host(front, claim.host, names, arrays)
        check_taken(front, {name: array for name, array in wanted.items() if name not in host.returns}, (host,))
        return (host,)
    written = required(front, ("launch",), claim.launch, EXAMPLE)
    functions: dict[str, Parameters] = {}
    for one in sources(front.path, front.source, ()):  # with the headers beside it
        functions = entries_of(one.text) | functions
    launches = tuple(
        read_launch(front, ("launch", index), one, names, arrays, functions) for index, one in enumerate(written)
    )
    check_taken(front, wanted, launches)
    return launches


def check_taken(front: FrontMatter, arrays: arguments.ClaimedArrays, launches: tuple[Launch, ...]) -> None:
    """Check that a launch takes every array."""
    for name in arrays:
        if not any(name in launch.args for launch in launches):
            raise front.error(("arrays", name), f"no launch takes '{name}' in its args")


def read_host(front: FrontMatter, claim: WrittenHost, names: ClaimNames, arrays: arguments.ClaimedArrays) -> Launch:
    """The [host] table: a function of the file that makes its own launches."""
    key: KeyPath = ("host",)
    functions = host_functions_of(front.source)
    written = replace(arguments.read_written(front, key, claim, arrays, names, functions), on_host=True)
    keys = LaunchKeys(key, (*key, "call" if written.is_call else "entry"))
    parameters = read_function(front, keys.function, written, functions)
    arguments.check_args(front, (*key, "call" if written.is_call else "args"), written, parameters, arrays)
    one = expression.number("1", ())
    used = arguments.uses(written.texts, (*arrays, *names))
    made = arguments.arguments_of(written, parameters, arrays, names)
    left = (name for name, array in arrays.items() if array.writes and name not in used)
    return Launch(
        keys=keys,
        entry=written.function,
        grid=(one,),
        block=(one,),
        shared=expression.number("0", ()),
        args=used,
        made=made,
        on_host=True,
        returns=tuple(left) if made.tensors else (),
        widths=arguments.widths_of(written, parameters),
        holes=read_holes(front, keys.function, written.function, names),
    )


def read_launch(
    front: FrontMatter,
    key: KeyPath,
    claim: WrittenLaunch,
    names: ClaimNames,
    arrays: arguments.ClaimedArrays,
    functions: arguments.Functions,
) -> Launch:
    written = arguments.read_written(front, key, claim, arrays, names, functions)
    keys = LaunchKeys(
        key, (*key, "call" if written.is_call else "entry"), (*key, "cluster") if claim.cluster is not None else key
    )
    parameters = read_function(front, keys.function, written, functions)
    arguments.check_args(front, (*key, "call" if written.is_call else "args"), written, parameters, arrays)
    is_plain = arguments.are_plain(written, parameters, arrays)
    when = claim.when
    return Launch(
        keys=keys,
        entry=written.function,
        grid=read_dimensions(front, (*key, "grid"), claim.grid, names),
        block=read_dimensions(front, (*key, "block"), claim.block, names),
        shared=read_number(front, (*key, "shared"), "0" if claim.shared is None else claim.shared, names),
        args=written.texts if is_plain else arguments.uses(written.texts, (*arrays, *names)),
        cluster=read_cluster(front, keys, claim.cluster, written.function, names),
        cooperative=claim.cooperative,
        when=None if when is None else checked(front, (*key, "when"), when, names, expression.condition),
        made=None if is_plain else arguments.arguments_of(written, parameters, arrays, names),
        widths=arguments.widths_of(written, parameters),
        holes=read_holes(front, keys.function, written.function, names),
    )


def read_cluster(
    front: FrontMatter, keys: LaunchKeys, written: str | None, function: str, names: ClaimNames
) -> tuple[Expression, ...]:
    """The blocks of a cluster: from the claim, else from the function's own `__cluster_dims__`."""
    if written is not None:
        return read_dimensions(front, keys.cluster, written, names)
    name = re.escape(function.partition("<")[0].strip().rpartition("::")[2])
    said = re.search(rf"__cluster_dims__\s*\(([^()]*)\)[^;{{}}]*?\b{name}\s*\(", front.source)
    if not said:
        return ()
    sides = [side.strip() for side in said[1].split(",")]
    if not all(side.isdigit() for side in sides):
        found = f"its function has __cluster_dims__({said[1]}); say what these numbers are: cluster = ..."
        raise front.error(keys.launch, found)
    return tuple(expression.number(side, ()) for side in sides)


def read_dimensions(front: FrontMatter, key: KeyPath, written: str | None, names: ClaimNames) -> tuple[Expression, ...]:
    """One to three expressions with commas between them."""
    sizes = split_commas(required(front, key, written, f'{key[-1]} = "rows"'))
    if not 1 <= len(sizes) <= 3:
        raise front.error(key, f"{len(sizes)} dimensions; a {key[-1]} has one, two or three")
    return tuple(checked(front, key, size, names, expression.number) for size in sizes)


def read_holes(front: FrontMatter, key: KeyPath, function: str, names: ClaimNames) -> dict[str, Expression]:
    """The expressions in braces in an entry, each by its text."""
    return {text: checked(front, key, text, names, expression.number) for text in HOLE.findall(function)}


def read_function(
    front: FrontMatter, key: KeyPath, written: arguments.Written, functions: arguments.Functions
) -> Parameters:
    """The parameters of the __global__ function that the entry names."""
    name = arguments.function_name(written.function)
    if name not in functions:
        what = "function with a body" if written.on_host else "__global__ function"
        found = f"no such {what} in the source; it has {', '.join(functions) or 'none'}"
        raise front.error(key, found)
    return functions[name]

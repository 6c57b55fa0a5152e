"""Every key of a claim: what it means, how its value is parsed, and the typed record that the front matter becomes.

A field of a record is a key of its table; docs/kernel-file.md explains each. `parse_claim` reads the whole front matter
once, and refuses any other key and any other word. Knows one value at a time; never whether values go together.
Long, since it has every key.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from kfuzz.claims.language.axes import Axis, parse_axis, parse_home, parse_tune
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.loaded import UsedLibraries
from kfuzz.claims.language.place import (
    ClaimPlace,
    Each,
    OneOf,
    Parser,
    String,
    Strings,
    parse_align,
    parse_constant,
    parse_cpp_arguments,
    parse_expression,
    parse_flag,
    parse_python_argument,
    parse_python_arguments,
    parse_sides,
)
from kfuzz.claims.language.python_text import PythonText
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.language.rounding_values import (
    WrittenCounts,
    parse_accumulate,
    parse_counts,
    parse_exp,
    parse_flags,
    parse_function_model,
    parse_promote,
    parse_range,
    parse_shift_slack,
)
from kfuzz.devices.python.libraries import array_libraries
from kfuzz.kinds import KINDS, Kind, Severity
from kfuzz.oracle.accuracy.quantizing import Apply, GridRounding, Logarithm, NanGroup, ScaleForm, Zeros
from kfuzz.oracle.accuracy.rounding import Atomics, Denominator, Divide, ExpModel, FunctionModel, RoundedSums, Shift
from kfuzz.oracle.numbers.elements import NARROW
from kfuzz.oracle.numbers.grid import Saturate
from kfuzz.oracle.numbers.verdict import NanRow, SpecialRow, Ties
from kfuzz.oracle.op.backward import PREFIX

T = TypeVar("T")
AllNegInf = Literal["nan", "zero"]
ARRAY_USAGE = (
    '"f32[shape] -> input", "f32[shape] <- output", "f32[shape] -> x <- y", "u32[1]" for scratch; '
    'what the host fills is "u32[1] = 0" or "f32[shape] = -inf <- output"'
)


@dataclass(frozen=True)
class Key:
    """What a key means, in a sentence, and the parser of its value."""

    meaning: str
    parse: Parser[object]

    @property
    def words(self) -> tuple[str, ...]:
        """The words that it accepts, if it takes one of a few."""
        return tuple(map(str, self.parse.words)) if isinstance(self.parse, OneOf) else ()


@cache
def keys_of(record: Callable[..., object]) -> Mapping[str, Key]:
    """The keys of a table, by name."""
    hints = get_type_hints(record, include_extras=True)
    return {name: key for name, hint in hints.items() if get_origin(hint) is Annotated for key in hint.__metadata__}


def parse_record(record: Callable[..., T], place: ClaimPlace, other_place: Collection[str] = ()) -> T:
    """The data of a table; a ClaimError for a key that it does not have, or that belongs to another kind of file."""
    keys = {name: key for name, key in keys_of(record).items() if name not in other_place}
    place.check_keys(tuple(keys))
    return record(**{name: keys[name].parse(inner) for name, inner in place.items()})


def parse_op(place: ClaimPlace) -> str:
    if not isinstance(place.value, str):
        raise place.error("expected the name of an op; kfuzz op lists all")
    return place.value


def parse_kind(place: ClaimPlace) -> Kind:
    if place.value not in list(KINDS):
        raise place.error(f"unknown kind; known are {', '.join(KINDS)}")
    return str(place.value)


def parse_severity(place: ClaimPlace) -> Severity:
    if place.value not in get_args(Severity):
        raise place.error(f"expected one of {', '.join(get_args(Severity))}")
    return cast(Severity, place.value)


def parse_library(place: ClaimPlace) -> str:
    return OneOf(tuple(array_libraries()))(place)


def parse_python_function(place: ClaimPlace) -> str:
    if not isinstance(place.value, str) or not place.value.isidentifier():
        raise place.error("the name of a function of this file is expected, in quotes")
    return place.value


def parse_argument_name(place: ClaimPlace) -> str:
    if not isinstance(place.value, str) or not place.value.isidentifier():
        raise place.error('the name of an argument is expected, in quotes, such as "seed"')
    return place.value


def parse_reference(place: ClaimPlace) -> str:
    if not isinstance(place.value, str) or not place.value:
        raise place.error('a function of the file, or of another one, is expected: "reference", "problem.py:Model"')
    return place.value


INTEGERS = String('a structure is expected, in quotes, such as "< rows", "1..page" or "rises 0..total"')
FunctionKey = Annotated[
    str | None,
    Key(
        "the function, with its template arguments; left out, the only one",
        String("the name of a __global__ function is expected, in quotes"),
    ),
]
CppArgumentsKey = Annotated[
    tuple[str, ...] | None,
    Key(
        "what the function is handed, in the order of its parameters; left out, the parameters by their names",
        parse_cpp_arguments,
    ),
]
CppCallKey = Annotated[
    str | None,
    Key(
        "function and arguments as one line of C++, in place of entry and args",
        String('one line of C++ is expected, such as "softmax<128>(Load{x}, Store{y}, rows, cols)"'),
    ),
]
StridesKey = Annotated[str | None, Key("whether arrays may have any strides", OneOf(("contiguous", "any")))]
HomeKey = Annotated[Mapping[str, int] | None, Key("the shape that the function was written for", parse_home)]


@dataclass(frozen=True)
class WrittenLaunch:
    """A table [[launch]]."""

    entry: FunctionKey = None
    args: CppArgumentsKey = None
    call: CppCallKey = None
    grid: Annotated[str | None, Key("the blocks of the grid, along one to three axes", parse_sides)] = None
    block: Annotated[str | None, Key("the threads of a block, along one to three axes", parse_sides)] = None
    shared: Annotated[str | None, Key("the bytes of dynamic shared memory of a block", parse_expression)] = None
    cluster: Annotated[str | None, Key("the blocks of a cluster, along one to three axes", parse_sides)] = None
    cooperative: Annotated[bool, Key("whether all blocks run at once", parse_flag)] = False
    when: Annotated[
        str | None,
        Key(
            "the condition under which the launch is made",
            String('a condition in quotes is expected, such as "cols <= 1024"'),
        ),
    ] = None


@dataclass(frozen=True)
class WrittenHost:
    """The table [host]."""

    entry: FunctionKey = None
    args: CppArgumentsKey = None
    call: CppCallKey = None
    strides: StridesKey = None
    home: HomeKey = None


@dataclass(frozen=True)
class WrittenCall:
    """The table [call] of a Python file."""

    entry: Annotated[str | None, Key("the Python function", parse_python_function)] = None
    args: Annotated[tuple[str, ...] | None, Key("what the function is called with", parse_python_arguments)] = None
    given: Annotated[
        Mapping[str, str] | None, Key("parameters that are not arrays, by name", Each(parse_python_argument))
    ] = None
    returns: Annotated[
        tuple[str, ...] | None,
        Key("the outputs that the function returns", Strings("a list of outputs is expected: those not among args")),
    ] = None
    library: Annotated[str | None, Key("the library whose arrays the function takes", parse_library)] = None
    strides: StridesKey = None
    stream: Annotated[
        str | None, Key("whether the function may work on any stream, or on the current one", OneOf(("any", "current")))
    ] = None
    home: HomeKey = None
    reference: Annotated[str | None, Key("the function that says what is right, or its file", parse_reference)] = None
    init: Annotated[
        tuple[str, ...] | None, Key("what an object of the class is made with: literals", parse_python_arguments)
    ] = None
    integers: Annotated[
        Mapping[str, str], Key("the integers that the reference's inputs may hold, by input", Each(INTEGERS))
    ] = field(default_factory=dict)


@dataclass(frozen=True)
class WrittenAccuracy:
    """The table [accuracy]; None, or empty, if a key is left out."""

    adds: Annotated[
        WrittenCounts | None, Key("at most so many additions on the way of a term into its sum", parse_counts)
    ] = None
    rescales: Annotated[WrittenCounts | None, Key("at most so many products of a term with an exp", parse_counts)] = (
        None
    )
    exp: Annotated[str | ExpModel | None, Key("the error of an exp", parse_exp)] = None
    divide: Annotated[Divide | None, Key("how a row is divided by its sum", OneOf(get_args(Divide)))] = None
    accumulate: Annotated[
        str | Mapping[str, str] | None, Key("the number format of sums, or of each by name", parse_accumulate)
    ] = None
    atomics: Annotated[
        Atomics | None,
        Key("whether a sum passes through atomicAdd on floats in global memory", OneOf(get_args(Atomics))),
    ] = None
    additions: Annotated[RoundedSums | None, Key("how an addition is rounded", OneOf(get_args(RoundedSums)))] = None
    denominator: Annotated[
        Denominator | None, Key("whether one stored sum divides a whole row", OneOf(get_args(Denominator)))
    ] = None
    shift: Annotated[Shift | None, Key("what is subtracted below an exp", OneOf(get_args(Shift)))] = None
    shift_slack: Annotated[float, Key("how far the shift may be from the true maximum", parse_shift_slack)] = 0.0
    flags: Annotated[tuple[str, ...] | None, Key("compiler flags that change the rounding", parse_flags)] = None
    form: Annotated[
        str | None, Key("which of the op's forms is computed", String("the name of a form is expected, in quotes"))
    ] = None
    keep: Annotated[
        Mapping[str, str],
        Key("values that are held in a narrower format between two steps", Each(OneOf(tuple(NARROW)))),
    ] = field(default_factory=dict)
    operand: Annotated[
        str | None, Key("the format in which a matrix product sees its operands", OneOf(tuple(NARROW)))
    ] = None
    promote: Annotated[
        int | None,
        Key("after how many products a tensor core's sum of 8-bit floats is added to a float32", parse_promote),
    ] = None
    shared: Annotated[
        tuple[str, ...] | None,
        Key(
            "the sums of which one stored value serves a whole row",
            Strings('a list of names is expected, such as ["mean", "var"]'),
        ),
    ] = None
    functions: Annotated[
        Mapping[str, FunctionModel | str], Key("the errors of functions, by name", Each(parse_function_model))
    ] = field(default_factory=dict)

    def statement(self, key: str) -> object:
        """The value of a key that the text of a kernel may also imply."""
        return vars(self)[key]


@dataclass(frozen=True)
class WrittenValues:
    """The table [values]."""

    finite: Annotated[bool, Key("whether -inf is left out", parse_flag)] = False
    range: Annotated[tuple[float, float] | None, Key("the least and the greatest finite value", parse_range)] = None
    all_neg_inf: Annotated[
        AllNegInf | None, Key("what a row of nothing but -inf becomes", OneOf(get_args(AllNegInf)))
    ] = None
    nan: Annotated[NanRow | None, Key("what a NaN in a row does", OneOf(get_args(NanRow)))] = None
    pos_inf: Annotated[SpecialRow | None, Key("what +inf in a row does", OneOf(get_args(SpecialRow)))] = None
    ties: Annotated[Ties | None, Key("which of equal elements is meant", OneOf(get_args(Ties)))] = None


@dataclass(frozen=True)
class WrittenQuantize:
    """The table [quantize]: how scales and codes are made; None if a key is left out."""

    scale: Annotated[ScaleForm | None, Key("how a scale follows from amax", OneOf(get_args(ScaleForm)))] = None
    apply: Annotated[
        Apply | None,
        Key("whether x is divided by the scale, or multiplied by an inverse of it", OneOf(get_args(Apply))),
    ] = None
    round: Annotated[
        GridRounding | None, Key("how a quotient is rounded to a number of the grid", OneOf(get_args(GridRounding)))
    ] = None
    saturate: Annotated[
        Saturate | None, Key("what becomes of a quotient beyond the largest number", OneOf(get_args(Saturate)))
    ] = None
    nan: Annotated[NanGroup | None, Key("what a NaN in a group makes NaN", OneOf(get_args(NanGroup)))] = None
    zeros: Annotated[Zeros | None, Key("the scale of a group of zeros", OneOf(get_args(Zeros)))] = None
    log: Annotated[
        Logarithm | None, Key("the function that finds a power of two upwards", OneOf(get_args(Logarithm)))
    ] = None
    symmetric: Annotated[bool, Key("whether the least integer, such as -128, is never written", parse_flag)] = False


@dataclass(frozen=True)
class WrittenClaims:
    """The table [claims]: what users rely on besides the answer to one input."""

    batch_invariant: Annotated[
        bool, Key("whether a row has the same bits whatever other rows there are, and wherever it lies", parse_flag)
    ] = False
    deterministic: Annotated[
        bool | None,
        Key("whether the same input always gives the same bits; false: it may not, and no warning says so", parse_flag),
    ] = None
    graphs: Annotated[
        bool, Key("whether a call can be captured in a CUDA graph and replayed as long as its arrays stay", parse_flag)
    ] = False
    rounds: Annotated[
        tuple[str, ...],
        Key(
            "the values of [accuracy] keep that every answer must be made of, rounded",
            Strings('a list of names is expected, such as ["normed"]'),
        ),
    ] = ()
    streams: Annotated[
        bool, Key("whether calls of a host function may be made on several streams at once", parse_flag)
    ] = False
    checks_indices: Annotated[
        bool, Key("whether an index out of range is followed nowhere, and changes no other answer", parse_flag)
    ] = False
    writes_absent_rows: Annotated[
        bool, Key("whether the kernel may write into the rows of an output that are not there", parse_flag)
    ] = False


@dataclass(frozen=True)
class WrittenRandom:
    """The table [random]: the arguments that choose what is drawn."""

    seed: Annotated[
        str | None, Key("the name of the seed, which a launch passes as it passes a size", parse_argument_name)
    ] = None
    offset: Annotated[
        str | None,
        Key(
            "the name of the offset: how many numbers of the seed's sequence earlier calls have used",
            parse_argument_name,
        ),
    ] = None


@dataclass(frozen=True)
class WrittenBroken:
    """The table [broken]."""

    kind: Annotated[Kind | None, Key("the kind of finding that must be reported", parse_kind)] = None
    severity: Annotated[Severity | None, Key("how grave it is", parse_severity)] = None
    why: Annotated[
        str | None,
        Key("one sentence that says what is wrong", String("a sentence that says what is wrong is expected")),
    ] = None


def parse_launches(place: ClaimPlace) -> tuple[WrittenLaunch, ...]:
    if not isinstance(place.value, list) or not all(isinstance(item, dict) for item in place.value):
        raise place.error("write a launch under [[launch]], in double brackets")
    return tuple(
        parse_record(WrittenLaunch, ClaimPlace(place.front, (*place.key, index), item))
        for index, item in enumerate(place.value)
    )


def parse_host(place: ClaimPlace) -> WrittenHost | None:
    """The table [host]; None if it is empty."""
    return parse_record(WrittenHost, place) if list(place.items()) else None


@dataclass(frozen=True)
class WrittenClaim:
    """A whole front matter as it is written, and what `resolve` finds around it, which are no keys."""

    op: Annotated[
        str | None, Key("what the kernel computes: an op of the oracle, or a path to a formula", parse_op)
    ] = None
    axes: Annotated[Mapping[str, Axis] | None, Key("the sizes for which the kernel is right", Each(parse_axis))] = None
    tune: Annotated[
        Mapping[str, tuple[int, ...]], Key("launch parameters, each with the values that it may have", Each(parse_tune))
    ] = field(default_factory=dict)
    where: Annotated[
        tuple[str, ...],
        Key(
            "conditions on axes and tune that hold wherever the kernel may be launched",
            Strings('a list of conditions in quotes is expected, such as ["cols == threads", "is_pow2(cols)"]'),
        ),
    ] = ()
    let: Annotated[Mapping[str, str], Key("sizes and conditions that follow from others", Each(parse_expression))] = (
        field(default_factory=dict)
    )
    arrays: Annotated[
        Mapping[str, str] | None,
        Key("the arrays, each with its element type, shape and role", Each(String(f"no array; write {ARRAY_USAGE}"))),
    ] = None
    align: Annotated[int | None, Key("the bytes to which the bases of arrays are aligned at least", parse_align)] = None
    warp_synchronous: Annotated[
        bool | None, Key("whether the kernel needs the lanes of a warp to go in step", parse_flag)
    ] = None
    launch: Annotated[tuple[WrittenLaunch, ...] | None, Key("the launches, in order", parse_launches)] = None
    host: Annotated[
        WrittenHost | None, Key("a function of the file that makes the launches, in place of [[launch]]", parse_host)
    ] = None
    accuracy: Annotated[WrittenAccuracy, Key("how the kernel rounds", partial(parse_record, WrittenAccuracy))] = field(
        default_factory=WrittenAccuracy
    )
    quantize: Annotated[
        WrittenQuantize, Key("how scales and codes are made", partial(parse_record, WrittenQuantize))
    ] = field(default_factory=WrittenQuantize)
    values: Annotated[
        WrittenValues, Key("the values for which the kernel is right", partial(parse_record, WrittenValues))
    ] = field(default_factory=WrittenValues)
    claims: Annotated[
        WrittenClaims, Key("what users rely on besides the answer to one input", partial(parse_record, WrittenClaims))
    ] = field(default_factory=WrittenClaims)
    random: Annotated[
        WrittenRandom, Key("the arguments that choose what is drawn", partial(parse_record, WrittenRandom))
    ] = field(default_factory=WrittenRandom)
    scalars: Annotated[
        Mapping[str, float | str],
        Key("constants and group sizes of the kernel, in place of the op's own", Each(parse_constant)),
    ] = field(default_factory=dict)
    broken: Annotated[
        WrittenBroken | None,
        Key("what is wrong on purpose, in a kernel that must be found", partial(parse_record, WrittenBroken)),
    ] = None
    call: Annotated[
        WrittenCall, Key("which Python function is called, and with what", partial(parse_record, WrittenCall))
    ] = field(default_factory=WrittenCall)
    text: PythonText | None = None
    """The functions of a Python file."""
    libraries: UsedLibraries | None = None
    """Those that a Python file uses."""
    reference: Reference | None = None
    """The reference that the op, or the function whose gradient it is, was made from."""

    @property
    def is_reference(self) -> bool:
        """Whether the op was made from a reference, so that its findings are only suspect."""
        return self.reference is not None and not (self.op or "").startswith(PREFIX)


def parse_claim(front: FrontMatter) -> WrittenClaim:
    """The front matter of a kernel file as typed data."""
    return parse_record(WrittenClaim, ClaimPlace(front, (), front.values), front.language.foreign_keys)


TABLES: Mapping[str, Mapping[str, Key]] = {
    "": {name: key for name, key in keys_of(WrittenClaim).items() if name != "call"},
    "launch": keys_of(WrittenLaunch),
    "host": keys_of(WrittenHost),
    "call": keys_of(WrittenCall),
    "accuracy": keys_of(WrittenAccuracy),
    "quantize": keys_of(WrittenQuantize),
    "values": keys_of(WrittenValues),
    "claims": keys_of(WrittenClaims),
    "random": keys_of(WrittenRandom),
    "broken": keys_of(WrittenBroken),
}

"""The claim of a Python file: reads [call], and fills in missing keys from the op and the text.

Knows the function and its arguments; never how it is called. Long, since each missing key follows from the same text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kfuzz.claims.language import expression
from kfuzz.claims.language.arguments import ClaimedArrays
from kfuzz.claims.language.axes import Axis
from kfuzz.claims.language.fitted_op import DIMENSION, OP_FILE, OUTPUT, fit_to_function
from kfuzz.claims.language.formula_claims import constant_named
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.keys import WrittenCall, WrittenClaim
from kfuzz.claims.language.launches import Launch, LaunchKeys
from kfuzz.claims.language.python_text import PythonFunction, PythonText
from kfuzz.claims.language.reading import ClaimNames
from kfuzz.claims.language.reference import Reference
from kfuzz.claims.language.roles import Roles
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError, DrawnWeights, MakerOfInputs, PythonCall, has_maker, is_literal, names_together
from kfuzz.devices.python.init_values import init_values, names_of_sizes
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.op.shapes import is_derived, lengths_of
from kfuzz.oracle.op.spelling import name_in

KEY: KeyPath = ("call",)
ANY_SIZE = Axis(1, 65536)
WeightsOfRoles = Mapping[str, Sequence[Mapping[str, str]]]
"""What an op says of its weights: by role, the digests of each set."""


def op_of_call(front: FrontMatter, claim: WrittenClaim, op: str) -> str:
    """The op without the optional inputs that the function does not take."""
    text = text_of(claim)
    if text.error:
        return op  # read_callable says what is wrong
    args = claim.call.args and [value for arg in claim.call.args for value in values_of(arg)]
    function = text.functions.get(read_entry(front, claim.call.entry, text))
    return fit_to_function(op, function, args, tuple(claim.call.given or ()))


def complete(front: FrontMatter, claim: WrittenClaim, roles: Roles) -> WrittenClaim:
    """The claim with its axes and arrays; the default is the op's own dimensions and roles, in f32."""
    if claim.warp_synchronous is not None:
        raise front.error(("warp_synchronous",), "this is of CUDA; [call] is of a Python function")
    axes = axes_of(claim.arrays, roles) if claim.axes is None else claim.axes
    claim = with_arrays(claim, roles)
    return with_axis(front, replace(claim, axes=axes), roles)


def with_arrays(claim: WrittenClaim, roles: Roles) -> WrittenClaim:
    """The claim with its arrays, by default one for each role, and with the op's rules for their sizes."""
    if claim.arrays is not None:
        return claim
    where = [*claim.where, *(in_claims_language(rule, roles.op, claim.scalars) for rule in roles.rules)]
    return replace(claim, arrays=arrays_of(roles, claim.scalars), where=tuple(where))


def with_axis(front: FrontMatter, claim: WrittenClaim, roles: Roles) -> WrittenClaim:
    """The claim whose call has the dimension along which the op works, counted from the end and from the front.

    Both are the same dimension to a caller of torch or numpy. Where it is the last one, a default that is another
    number, such as `dim = 64`, means something else.
    """
    call, text = claim.call, text_of(claim)
    function = None if text.error else text.functions.get(read_entry(front, call.entry, text))
    if function is None or call.args is not None:
        return claim
    rank = len(next(iter(roles.inputs.values())))
    from_front = roles.axis % rank
    both = (from_front - rank, from_front)
    defaults = dict(function.integers_by_default)
    named = {*(claim.axes or ()), *(claim.arrays or ()), *claim.tune, *claim.let, *(call.given or ())}
    taken = [
        one for one in DIMENSION
        if one in function.parameters and one not in named
        and (one in function.required or roles.axis != -1 or defaults.get(one) in both)
    ]  # fmt: skip
    if not taken:
        return claim
    if name_in(roles.op).endswith(OP_FILE):  # in a file of yours or of a reference, any array may have the dimension
        required = {one: "-1" for one in taken if one in function.required}
        return replace(claim, call=replace(call, given={**required, **(call.given or {})}))
    given = {**dict.fromkeys(taken, taken[0]), **(call.given or {})}
    return replace(claim, tune={**claim.tune, taken[0]: both}, call=replace(call, given=given))


def arrays_of(roles: Roles, scalars: Mapping[str, float | str]) -> dict[str, str]:
    """An array for each role, under the role's name."""
    arrays: dict[str, str] = {}
    for arrow, every in (("->", roles.inputs), ("<-", roles.outputs)):
        for role, dimensions in every.items():
            name = role if role not in arrays else f"{role}_out"
            sizes = [in_claims_language(one, roles.op, scalars) if is_derived(one) else one for one in dimensions]
            arrays[name] = f"{roles.element(role)}[{', '.join(sizes)}] {arrow} {role}"
    return arrays


def in_claims_language(text: str, op: str, scalars: Mapping[str, float | str]) -> str:
    """An expression of an op's file as a claim writes it: with the values of the op's axes, and / for //."""
    base, _, by = text.partition(" / ")
    text, axes = f"ceil_div({base}, {by})" if by else text, find(op).axes
    for name in reversed(list(axes)):
        text = re.sub(rf"\b{name}\b", f"({scalars.get(name, axes[name])})", text)
    return text.replace("//", "/")


def rules_of_places(op: str, scalars: Mapping[str, float | str] = MappingProxyType({})) -> Iterator[str]:
    """A rule for each size of an answer that may be none, as that after a window: it is 1 or more."""
    every = (size for one in find(op).outputs.values() for size in one.dimensions)
    return (f"{in_claims_language(one, op, scalars)} >= 1" for one in every if is_derived(one) and "-" in one)


def axes_of(arrays: Mapping[str, str] | None, roles: Roles) -> dict[str, Axis]:
    """The sizes that the inputs' dimensions may have; the op's names if the claim has no arrays."""
    names = [*lengths_of((size, 0) for shape in roles.inputs.values() for size in shape if not size.isdigit())]
    if arrays is not None:
        shapes = [text.partition("[")[2].partition("]")[0] for text in arrays.values() if "->" in text]
        sizes = [size.strip() for shape in shapes for size in shape.split(",")]
        names = [*lengths_of((size, 0) for size in sizes if not size.isdigit())]
    return dict.fromkeys(names, ANY_SIZE)


def text_of(claim: WrittenClaim) -> PythonText:
    """The functions of the file of a resolved claim."""
    assert claim.text, "resolve reads the file"
    return claim.text


def read_callable(
    front: FrontMatter, written: WrittenClaim, names: ClaimNames, given: ClaimedArrays, weights: WeightsOfRoles
) -> Launch:
    """The [call] table: the function to call, its arguments, and the outputs that it returns.

    `weights`: the input that is no argument, and says with which weights the object is made.
    """
    drawn = [drawn_weights(name, weights[one.reads or ""]) for name, one in given.items() if one.reads in weights]
    arrays = {name: one for name, one in given.items() if one.reads not in weights}
    claim, text, libs = written.call, text_of(written), written.libraries
    assert libs, "resolve finds them"
    if text.error:
        line, message = text.error
        raise ClaimError(f"{shown_path(front.path)}:{line}: is no Python: {message}")
    entry = read_entry(front, claim.entry, text)
    function = text.functions.get(entry)
    args = read_args(front, claim, function, arrays, names)
    known = (*arrays, *names)
    of_object = names_of_sizes(claim.init or ())
    if unknown := [name for name in of_object if name not in names]:
        raise front.error((*KEY, "init"), f"'{unknown[0]}' is neither a size nor a literal")
    if of_object and not claim.home:
        raise front.error((*KEY, "init"), f"'{of_object[0]}' needs [call] home, the sizes of the problem")
    used = tuple(dict.fromkeys([value for arg in args for value in values_of(arg) if value in known] + of_object))
    returns = read_returns(front, claim.returns, arrays, used)
    for name, array in arrays.items():
        if name not in used and name not in returns:
            what = "is an input" if array.reads else "is scratch"
            raise front.error((*KEY, "args"), f"'{name}' {what} and is not handed over")
    library = claim.library or libs.arrays
    reference = written.reference
    call = PythonCall(
        entry,
        args,
        used,
        returns,
        library,
        language=libs.language if libs.language != libs.arrays else library,
        any_strides=claim.strides == "any",
        in_stream=claim.stream == "current",
        is_guess=libs.is_guess and not claim.library,
        others=() if claim.library else libs.others,
        init=claim.init,
        init_at_home=claim.init and tuple(map(repr, init_values(claim.init, claim.home or {}))),
        beside=reference.folders if reference else (),
        files=reference.files if reference else (),
        doubles=reference.doubles if reference else (),
        numbers=reference.numbers if reference else None,
        as_made=written.is_reference,
        maker=maker_by(reference) if reference and any(map(has_maker, args)) else None,
        weights=drawn[0] if drawn else None,
    )
    one = expression.number("1", ())
    return Launch(
        keys=LaunchKeys(KEY, (*KEY, "entry")),
        entry=entry,
        grid=(one,),
        block=(one,),
        shared=expression.number("0", ()),
        args=used,
        on_host=True,
        returns=returns,
        called=call,
        widths=dict.fromkeys(used, 8),
    )


def maker_by(reference: Reference) -> MakerOfInputs:
    """What makes the inputs of a reference."""
    return MakerOfInputs(reference.path, reference.source, reference.server, reference.question)


def drawn_weights(array: str, digests: Sequence[Mapping[str, str]]) -> DrawnWeights:
    """The sets of weights of which this array holds a number."""
    return DrawnWeights(array, tuple(tuple(one.items()) for one in digests))


def read_entry(front: FrontMatter, written: str | None, text: PythonText) -> str:
    """The function that is named, else the one that a format calls (it may be an object), else the only public one."""
    key = (*KEY, "entry")
    if written is None:
        public = text.public
        if text.usual or len(public) == 1:
            return text.usual or public[0]
        if not public:
            raise front.error(key, "missing, and the file has no public function")
        how = f"--entry {public[0]}" if front.said else f'entry = "{public[0]}"'
        raise front.error(key, f"missing: it has {', '.join(public)}; say which is meant: {how}")
    if written not in text.names:
        raise front.error(key, f"no such function in the file; it has {', '.join(text.public) or 'none'}")
    return written


def read_args(
    front: FrontMatter, claim: WrittenCall, function: PythonFunction | None, arrays: ClaimedArrays, names: ClaimNames
) -> tuple[str, ...]:
    """The arguments of the call: arrays, sizes and literals; by default they follow from the parameters' names."""
    key = (*KEY, "args")
    if claim.args is None:
        return infer_args(front, claim.given or {}, function, arrays, names)
    if claim.given is not None:
        raise front.error((*KEY, "given"), "args says all that is handed over; leave one of the two out")
    args = claim.args
    for arg in args:
        if not all(is_known(value, (*arrays, *names)) for value in values_of(arg)):
            found = f"'{arg}' is no array, no size and no literal; this claim has {', '.join((*arrays, *names))}"
            raise front.error(key, found)
    if function is not None and function.is_by_name:
        args = tuple(f"{arg}={arg}" if arg.isidentifier() else arg for arg in args)
    check_count(front, key, function, args)
    return args


def check_count(front: FrontMatter, key: KeyPath, function: PythonFunction | None, args: Sequence[str]) -> None:
    """Check that the function takes this many arguments, if the file shows how many it takes."""
    if function is None or function.is_variadic:
        return
    named = {name for name in map(keyword_of, args) if name}
    positional = function.parameters[: sum(not keyword_of(arg) for arg in args)]
    wanting = [name for name in function.required if name not in named and name not in positional]
    unknown = [name for name in named if name not in function.parameters]
    if wanting or unknown or len(args) > len(function.parameters):
        wanted = ", ".join((*function.required, *(f"{name}=" for name in function.optional)))
        raise front.error(key, f"{function.name} takes ({wanted})")


def infer_args(
    front: FrontMatter,
    given: Mapping[str, str],
    function: PythonFunction | None,
    arrays: ClaimedArrays,
    names: ClaimNames,
) -> tuple[str, ...]:
    """The inputs in their order; a parameter without a default beyond these is an output or a size of its name.

    A parameter in `given` has the value given there, and one that means a constant of the op, such as eps, the op's.
    """
    inputs = [name for name, array in arrays.items() if array.reads]
    outputs = [name for name, array in arrays.items() if array.writes and not array.reads]
    check_given(front, given, (*arrays, *names))
    if function is None or function.is_variadic:
        named = [f"{name}={name}" for name in inputs] if function and function.is_by_name else inputs
        return (*named, *(f"{name}={value}" for name, value in given.items()))
    if unknown := [name for name in given if name not in function.parameters]:
        raise front.error((*KEY, "given"), f"{function.name} takes ({', '.join(function.parameters)}), no {unknown[0]}")
    left = [name for name in inputs if name not in function.required]
    args: list[str] = []
    constants = constants_among(function.parameters, names, (*given, *arrays, *names))
    for parameter in function.required:
        if parameter in given:
            continue
        if parameter in (*arrays, *names):
            args.append(handed(function, parameter, parameter))
        elif parameter in constants:
            args.append(handed(function, parameter, constants[parameter]))
        elif (together := dict(function.unpacked).get(parameter)) in (len(left), len(left) + len(outputs)):
            args.append(f"({', '.join([*left, *outputs][:together])},)")
            left, outputs = [], outputs if together == len(left) else []
        elif left:
            args.append(handed(function, parameter, left.pop(0)))
        elif outputs and parameter.lower() in OUTPUT:
            args.append(handed(function, parameter, outputs.pop(0)))
        else:
            wanted = f'{function.name} also takes "{parameter}"'
            raise front.error((*KEY, "args"), f'missing: {wanted}; write args = [..., "{parameter}=..."]')
    free = [one for one in function.optional if one not in constants and one not in given]
    if left and len(function.parameters) < len(inputs):
        found = (
            f"{function.name} takes ({', '.join(function.parameters)}) and the op has the inputs {', '.join(inputs)}"
        )
        raise front.error((*KEY, "args"), f"missing: {found}; write args = [...]")
    args += [f"{one}={value}" for one, value in zip(free, left, strict=False)] if constants else left
    args += [f"{one}={constants[one]}" for one in function.numbers_by_default if one in constants]
    named = [one for one in args if keyword_of(one)]  # the arguments after one of these must be named, too
    return (*(one for one in args if one not in named), *named, *(f"{name}={value}" for name, value in given.items()))


def constants_among(parameters: Iterable[str], names: ClaimNames, others: Iterable[str]) -> dict[str, str]:
    """The parameters that mean a constant of the op, with its value; none of those that have another meaning."""
    named = {one: constant_named(one, names.constants) for one in parameters if one not in others}
    return {one: names.constants[name] for one, name in named.items() if name}


def handed(function: PythonFunction, parameter: str, value: str) -> str:
    """An argument, by name if it must be."""
    return f"{parameter}={value}" if parameter in function.by_name else value


def check_given(front: FrontMatter, given: Mapping[str, str], names: Iterable[str]) -> None:
    """`given = { eps = 1e-5 }`: parameters that are not arrays, each a size or a literal of Python."""
    for name, text in given.items():
        if not is_known(text, names):
            raise front.error((*KEY, "given", name), f"'{text}' is no size and no literal of Python")


def read_returns(
    front: FrontMatter, claimed: tuple[str, ...] | None, arrays: ClaimedArrays, used: Iterable[str]
) -> tuple[str, ...]:
    """The outputs that are returned: those that are not arguments, in the order of `arrays`."""
    key = (*KEY, "returns")
    written = [name for name, array in arrays.items() if array.writes]
    left = [name for name in written if name not in used]
    if claimed is None:
        return tuple(left)
    if sorted(claimed) != sorted(left):
        raise front.error(key, f"the outputs that are not among args are wanted: {', '.join(left) or 'none'}")
    return claimed


def keyword_of(arg: str) -> str:
    """The name before `=`; empty if there is none."""
    name, equals, _ = arg.partition("=")
    return name.strip() if equals and name.strip().isidentifier() else ""


def value_of(arg: str) -> str:
    """The value of an argument, without its name."""
    return arg.partition("=")[2].strip() if keyword_of(arg) else arg.strip()


def values_of(arg: str) -> list[str]:
    """The values of an argument; each element of a tuple of names such as `(x, y)` is one."""
    return names_together(value_of(arg)) or [value_of(arg)]


def is_known(value: str, names: Iterable[str]) -> bool:
    """Whether it is one of the names, or a Python literal."""
    return value in names or is_literal(value)


def lines_of(call: PythonCall) -> Mapping[str, str]:
    """The [call] table in words, for the reader."""
    keys = {"entry": call.function, "args": ", ".join(call.arguments), "returns": ", ".join(call.returns)}
    return {**keys, "library": call.library, **({"strides": "any"} if call.any_strides else {})}

"""The arguments of a launch: names of arrays and sizes, literals, or one line of C++ (`call`).

    args = ["y", "x", "rows", "1.0f", "nullptr"]
    call = "softmax<128>(Load{x}, Store{y}, rows, cols)"

If all are arrays and integers, they are passed unchanged. Otherwise the compiler makes the arguments from the names
in them: it converts a size to float or size_t, and builds structs. Knows as much C++ as a list of arguments needs.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kfuzz.claims.language.arrays import Array
from kfuzz.claims.language.front_matter import FrontMatter, KeyPath
from kfuzz.claims.language.keys import WrittenHost, WrittenLaunch
from kfuzz.claims.language.reading import ClaimNames, required
from kfuzz.claims.language.signature import Parameter, Parameters
from kfuzz.common.text.cuda_text import split_commas
from kfuzz.devices.limits import C_INT_BYTES
from kfuzz.devices.tensors import layout_names

ClaimedArrays = Mapping[str, Array]
Functions = Mapping[str, Parameters]
LITERAL = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])"
    r"|[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fF]?"
    r"|[+-]?(?:INFINITY|NAN)|true|false|nullptr|(?:std|c10|at|torch)::nullopt"
)
NAME = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")
LONG = 8


@dataclass(frozen=True)
class Arguments:
    """The arguments of a launch as C++, and the declarations of the names in them, which the device passes."""

    texts: tuple[str, ...]
    declared: tuple[str, ...]
    tensors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Written:
    """The function and arguments of a launch or of a host function, as the claim writes them."""

    function: str
    texts: tuple[str, ...]
    is_call: bool
    on_host: bool = False


def read_written(
    front: FrontMatter,
    key: KeyPath,
    claim: WrittenLaunch | WrittenHost,
    arrays: ClaimedArrays,
    names: ClaimNames,
    functions: Functions,
) -> Written:
    """`entry` and `args`, or the `call` that replaces both.

    Without `entry` the only function is meant; without `args`, each parameter takes what has its name.
    """
    taken = {*arrays, *names}
    constants = {name: text for name, text in names.constants.items() if name not in taken}
    if claim.call is not None:
        return read_call(front, key, claim, claim.call, constants)
    only = next(iter(functions)) if len(functions) == 1 else None
    entry = required(front, (*key, "entry"), claim.entry or only, 'entry = "softmax_online"')
    if claim.args is None:
        return Written(entry, parameter_names(front, key, entry, functions, taken), is_call=False)
    texts = tuple(constants.get(text, text) for text in claim.args)
    for text in texts:
        if text not in taken and not LITERAL.fullmatch(text):
            known = ", ".join((*arrays, *names, *constants))
            found = f"'{text}' is no array, no size and no literal; this claim has {known}"
            raise front.error((*key, "args"), f"{found}; for any other C++ write the launch as call = ...")
    return Written(entry, texts, is_call=False)


def parameter_names(
    front: FrontMatter, key: KeyPath, entry: str, functions: Functions, known: set[str]
) -> tuple[str, ...]:
    """The parameters of a function, each of which has the name of an array or a size of the claim."""
    names = tuple(one.name for one in functions.get(function_name(entry), ()))
    for name in names:
        if name not in known:
            found = f"missing, and '{name}' of {entry} is no array and no size of this claim"
            raise front.error((*key, "args"), f'{found}; write for example args = ["y", "x", "rows", "cols"]')
    return names


def function_name(entry: str) -> str:
    """The name of the function in an entry: `f` in `space::f<128>`; empty if there is none."""
    named = re.match(r"(?:\w+::)*(\w+)\s*(?:<.*>)?$", entry.strip())
    return named[1] if named else ""


def read_call(
    front: FrontMatter, key: KeyPath, claim: WrittenLaunch | WrittenHost, call: str, constants: Mapping[str, str]
) -> Written:
    """The function and the arguments of one line of C++."""
    usage = 'one line of C++ is expected, such as "softmax<128>(Load{x}, Store{y}, rows, cols)"'
    for other, written in (("entry", claim.entry), ("args", claim.args)):
        if written is not None:
            raise front.error((*key, "call"), f"it says function and arguments itself; leave out {other}")
    text = " ".join(call.split())
    opened = opening(text)
    if not text.endswith(")") or opened < 1:
        raise front.error((*key, "call"), usage)
    given = NAME.sub(lambda name: constants.get(name[0], name[0]), text[opened + 1 : -1])
    return Written(text[:opened].strip(), split_commas(given), is_call=True)


def opening(text: str) -> int:
    """Index of the bracket that the last character closes; -1 if there is none."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] in ")]}") - (text[index] in "([{")
        if depth == 0:
            return index
    return -1


def uses(texts: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The names of arrays and sizes in some C++, each once, in the order in which they appear."""
    allowed = set(known)
    return tuple(dict.fromkeys(name for text in texts for name in NAME.findall(text) if name in allowed))


def are_plain(written: Written, parameters: Parameters, arrays: ClaimedArrays) -> bool:
    """Whether all are arrays for pointers and sizes for integers of 32 or 64 bits, so they are passed unchanged."""
    return (
        not written.is_call
        and not written.on_host
        and all(
            parameter.is_pointer if text in arrays else is_plain_size(text, parameter)
            for text, parameter in zip(written.texts, parameters, strict=True)
        )
    )


def is_plain_size(text: str, parameter: Parameter) -> bool:
    return not LITERAL.fullmatch(text) and not parameter.is_float and parameter.bytes in (C_INT_BYTES, LONG)


def widths_of(written: Written, parameters: Parameters) -> dict[str, int]:
    """The bytes of the integer as which each size is passed, if known; the smallest if there are several."""
    found: dict[str, int] = {}
    for text, one in zip(written.texts, parameters, strict=False):
        if one.bytes and not (one.is_float or one.is_pointer or "bool" in one.text):
            found[text] = min(one.bytes, found.get(text, LONG))
    return found


def arguments_of(written: Written, parameters: Parameters, arrays: ClaimedArrays, names: Iterable[str]) -> Arguments:
    """The arguments for the compiler to make. An array in `args` fits any pointer, as in a plain call."""
    widths = widths_of(written, parameters)
    of_tensors = written.on_host and takes_tensors(parameters)

    def declared(name: str) -> str:
        if name in arrays:
            element = arrays[name].stored
            if of_tensors:
                return f"{element.tensor_type} *{name}"
            return f"{element.c_type if written.is_call or written.on_host else 'void'} *{name}"
        return f"{'long long' if widths.get(name) == LONG else 'int'} {name}"

    used = uses(written.texts, (*arrays, *names))
    if not of_tensors:
        left = (one.text.partition("=")[2].strip() for one in parameters[len(written.texts) :])
        return Arguments((*written.texts, *filter(None, left)), tuple(map(declared, used)))
    ranks = {name: arrays[name].rank for name in used if name in arrays}
    apart = [part for name in used for part in in_parts(declared(name), name, ranks.get(name))]
    return Arguments(written.texts, tuple(apart), tuple(ranks.items()))


def takes_tensors(parameters: Parameters) -> bool:
    """Whether the function takes torch's tensors."""
    return any("Tensor" in parameter.text for parameter in parameters)


def in_parts(declared: str, name: str, rank: int | None) -> list[str]:
    """The values passed for a name: for a tensor, its array and its layout."""
    if rank is None:
        return [declared]
    return [f"{declared}_data", *(f"long long {part}" for part in layout_names(name, rank))]


def check_args(
    front: FrontMatter, key: KeyPath, written: Written, parameters: Parameters, arrays: ClaimedArrays
) -> None:
    """Check that there are as many arguments as parameters, and that an array goes to a pointer to its element type."""
    if not (len(parameters) == len(written.texts) or (written.is_call and may_take(len(written.texts), parameters))):
        wanted = ", ".join(parameter.text for parameter in parameters)
        found = f"{len(written.texts)} given; {written.function} takes {len(parameters)}: ({wanted})"
        raise front.error(key, found)
    for text, parameter in zip(written.texts, parameters, strict=True) if not written.is_call else ():
        if not fits(text, parameter, arrays):
            array = arrays.get(text)
            what = f"an array of {array.element}" if array else "a literal" if LITERAL.fullmatch(text) else "a size"
            raise front.error(key, f"'{text}' is {what}; the parameter is '{parameter.text}'")


def may_take(count: int, parameters: Parameters) -> bool:
    """Whether a call may have this many arguments: a default may be left out, and a pack is any number."""
    least = sum("=" not in one.text and "..." not in one.text for one in parameters)
    return least <= count and (count <= len(parameters) or any("..." in one.text for one in parameters))


def fits(text: str, parameter: Parameter, arrays: ClaimedArrays) -> bool:
    """Whether the parameter may take it; the compiler decides if its type is not known."""
    if text in arrays:
        width = arrays[text].stored.bytes
        return parameter.bytes in (None, width) if parameter.is_pointer else parameter.bytes is None
    if text == "nullptr":
        return parameter.is_pointer or parameter.bytes is None
    return not parameter.is_pointer

"""The launch of a kernel as its file tells it: a line with `<<<>>>`, also in main or a comment, or the uses of a size.

Knows C++ as text; trials must show that what it reads is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from kfuzz.claims.language import expression
from kfuzz.common.text.cuda_text import closing_bracket, split_commas

MOST_THREADS = 1024
MOST_SIZES = 4
"""The most block sizes that are read from one file."""
WARP = 32
DEFINED = re.compile(
    r"#\s*define\s+(\w+)\s+\(?\s*(\w[\w \t*/+()-]*?)\)?[ \t]*(?://.*|/\*.*)?$"
    r"|\b(?:const|constexpr)\s+(?:unsigned\s+)?(?:int|unsigned|size_t|long|auto)\s+(\w+)\s*=\s*([^;,]+);",
    re.MULTILINE,
)
LAUNCH = re.compile(r"(\w+)\s*(?:<[^<>;]*>)?\s*<<<(.*?)>>>\s*(?=\()", re.DOTALL)
NAMED_THREADS = re.compile(
    r"block_?(?:size|dim|threads)?|(?:num_?|n_?)?threads?(?:_?per_?block)?|tpb|nt", re.IGNORECASE
)
"""Common names of the number of threads in a block."""
BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*([^,()]+)")
STRIDE = re.compile(r"\bfor\s*\([^;{}]*;[^;{}]*;\s*\w+\s*\+=\s*([\w \t*/+()-]+?)\)\s*[{\w]")
OF_BLOCKS = re.compile(r"\bblockIdx\s*\.\s*x\s*\*\s*(\w+)")
SHARED = re.compile(r"__shared__\s+(?:__align__\s*\([^()]*\)\s*)?\w[\w \t:]*?\s+\w+\s*\[([^\]]+)\]")
HALVED = re.compile(r"=\s*([\w \t*/+()-]+);\s*\w+\s*>=?\s*[01]\s*;\s*\w+\s*(?:>>=\s*1|/=\s*2)\b")
"""A tree over the threads of a block begins with half of them."""
ROUNDED_UP = re.compile(r"\b(?:cdiv|ceil_?div|div_?up|div_?ceil|ceil)\s*\(", re.IGNORECASE)
CAST = re.compile(r"\(\s*(?:unsigned\s+)?(?:int|size_t|unsigned|long|float)\s*\)|static_cast\s*<[^<>]*>")
SIZEOF = re.compile(r"sizeof\s*\(\s*(\w+)\s*\)")
BYTES = {"float": 4, "int": 4, "unsigned": 4, "double": 8, "half": 2, "__half": 2}
DEPTH = 4
"""Names that stand for names that stand for names."""


def constants_of(text: str) -> dict[str, int]:
    """The named whole numbers of a file: #define, const and constexpr."""
    found: dict[str, int] = {}
    for match in DEFINED.finditer(text):
        name, value = match[1] or match[3], number_of(match[2] or match[4], found)
        if value is not None:
            found[name] = value
    return found


def number_of(text: str, known: Mapping[str, int]) -> int | None:
    """The value of an expression of numbers and known names; None if it has others."""
    plain = re.sub(r"(?<=\d)[uUlL]+\b", "", text.strip())
    try:
        return expression.number(plain, tuple(known))(known)
    except (expression.ExpressionError, ValueError):
        return None


def block_sizes(code: str) -> list[int]:
    """How many threads a block may have by the text: its bounds, strides, blocks, trees and shared arrays."""
    known = constants_of(code)
    numbers: list[int | None] = [number_of(one, known) for one in (*BOUNDS.findall(code), *STRIDE.findall(code))]
    numbers += [number_of(one, known) for one in OF_BLOCKS.findall(code)]
    numbers += [2 * half for one in HALVED.findall(code) if (half := number_of(one, known))]
    extents = [size for one in SHARED.findall(code) if (size := number_of(one, known))]
    numbers += [size if size > WARP else size * WARP for size in extents]  # one for each warp
    numbers += [value for name, value in known.items() if NAMED_THREADS.fullmatch(name)]
    sizes = [one for one in dict.fromkeys(numbers) if one and WARP <= one <= MOST_THREADS and one % WARP == 0]
    return sizes[:MOST_SIZES]


def shared_extent(code: str) -> int:
    """The extent of the longest shared array of a fixed size; 0 if there is none."""
    known = constants_of(code)
    return max((size for one in SHARED.findall(code) if (size := number_of(one, known))), default=0)


def launches_as_sizes(
    name: str, numbers: Mapping[int, str], axes: Sequence[str], text: str
) -> Iterator[tuple[str, ...]]:
    """Grid, block and shared memory of each launch of a kernel, in the kernel's own names of its sizes.

    `numbers`: the parameters that are numbers, by their places. A name of the caller's that no argument explains is
    the axis that is no argument.
    """
    known = constants_of(text)
    for found in LAUNCH.finditer(text):
        given = split_commas(found[2])
        if found[1] != name or len(given) < 2:
            continue
        passed = split_commas(text[found.end() + 1 : closing_bracket(text, found.end())])
        names = {passed[place].strip(): own for place, own in numbers.items() if place < len(passed)}
        sizes = [in_words_of_a_claim(one, names, known, text[: found.start()]) for one in given[:3]]
        strange = {word for one in sizes for word in re.findall(r"\b[A-Za-z_]\w*\b", one)}
        strange -= {*axes, "ceil_div", "min", "max"}
        left = [axis for axis in axes if axis not in numbers.values()]
        if len(strange) == len(left) == 1:
            sizes = [re.sub(rf"\b{re.escape(*strange)}\b", left[0], one) for one in sizes]
        yield sizes[0], sizes[1], sizes[2] if len(sizes) > 2 else "0"


def in_words_of_a_claim(text: str, names: Mapping[str, str], known: Mapping[str, int], before: str) -> str:
    """A host expression: arguments by the kernel's names, variables and constants by their values."""
    text = plain(text)

    def explained(word: re.Match[str]) -> str:
        if word[0] in names or word[0] in ("ceil_div", "min", "max", "dim3"):
            return names.get(word[0], word[0])
        if word[0] in known:
            return str(known[word[0]])
        value = assigned(word[0], before)
        return word[0] if value is None else value if re.fullmatch(r"\w+|dim3.*", value) else f"({value})"

    for _ in range(DEPTH):
        text = plain(re.sub(r"\b\w+\b", explained, text))
    text = text.strip()
    is_whole = text.startswith("dim3(") and closing_bracket(text, 4) == len(text) - 1
    return text[5:-1] if is_whole else text


def plain(text: str) -> str:
    """An expression without casts, with sizes of types as numbers and any rounded-up division as ceil_div."""
    text = SIZEOF.sub(lambda found: str(BYTES.get(found[1], found[0])), text.replace("std::", ""))
    return ROUNDED_UP.sub("ceil_div(", CAST.sub("", text))


def assigned(name: str, before: str) -> str | None:
    """The value that a variable has by the nearest text before."""
    declared = rf"\b(?:int|unsigned|size_t|long|auto|dim3)\s+{re.escape(name)}\s*"
    value = None
    for found in re.finditer(rf"{declared}(?:=\s*([^;,]+)[;,]|\()", before):
        if found[1] is not None:
            value = found[1].strip()
        else:
            value = f"dim3({before[found.end() : closing_bracket(before, found.end() - 1)]})"
    return value

"""The words `template` and `typename` that nvcc does not need and g++ does, and a type that g++ 12 dies of.

nvcc's front end knows what a name in a template means once the template is used; g++ must know before. g++ is asked
first: a word is added only on a line about which it complains, and only where the complaint may be about that word.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from subprocess import CompletedProcess

from kfuzz.devices.cpu.line_words import LINES_A_FILE
from kfuzz.devices.cpu.unit import KERNEL_NAME, Unit

COMPLAINT = re.compile(rf"{re.escape(KERNEL_NAME)}:(\d+):\d+: (?:error: )?(.*)")
OF_TEMPLATE = re.compile(
    r"expected primary-expression before '[>,)]'|expected initializer before '>'|"
    r"invalid operands of types .*'<unresolved overloaded function type>'"
)
OF_TYPE = re.compile(r"dependent-name '.*::(\w+)' is parsed as a non-type")
CALL = re.compile(r"(\.|->|::)(\s*)(?!template\b)(\w+\s*<[^;]*?>\s*\()")
"""A member that is called with template arguments: `a.b<c>(`, where `template` is right if it is anything."""
OF_LAUNCH = re.compile(r"internal compiler error")
ADDRESS = re.compile(
    r"(\[&\]\(auto cuda_on_cpu_tag\)) -> decltype\((::cuda_on_cpu::kernel_named\(.*?\))\) \{ return \2; \}"
)
"""The lambda of a launch that names the kernel, by launches.py. g++ 12 dies of its type if the launch lies in another
lambda and the kernel has a local constant as a template argument: `[&] { k<N><<<1, N>>>(y); }`."""
ROUNDS = 8
"""A complaint may show only when an earlier one is gone."""


def compile_leniently(compiled: Callable[[Unit], CompletedProcess[str]], unit: Unit) -> CompletedProcess[str]:
    """Compile a unit, and again with the words that it has left out, as long as g++ asks for more."""
    done = compiled(unit)
    for _ in range(ROUNDS):
        added = add_keywords(unit, done.stderr) if done.returncode else unit
        if added == unit:
            break
        unit = added
        done = compiled(unit)
    return done


def add_keywords(unit: Unit, complaint: str) -> Unit:
    """The unit with the words that g++ asks for."""
    wanted: dict[tuple[int, int], list[str]] = {}
    for line, words in COMPLAINT.findall(complaint):
        wanted.setdefault(divmod(int(line), LINES_A_FILE), []).append(words)
    numbers = unit.numbers or range(len(unit.texts))
    texts = [
        _edited(text, {line: words for (file, line), words in wanted.items() if file == number})
        for number, text in zip(numbers, unit.texts, strict=True)
    ]
    return replace(unit, texts=tuple(texts))


def _edited(text: str, wanted: dict[int, list[str]]) -> str:
    """A file's text with words added on the lines with these complaints."""
    if not wanted:
        return text
    return "\n".join(_line(line, wanted.get(number, ())) for number, line in enumerate(text.split("\n"), 1))


def _line(line: str, complaints: Sequence[str]) -> str:
    if any(OF_LAUNCH.match(one) for one in complaints):
        line = ADDRESS.sub(r"\1 { return \2; }", line)
    if any(OF_TEMPLATE.match(one) for one in complaints):
        line = CALL.sub(r"\1\2template \3", line)
    for name in _types(complaints):
        line = re.sub(rf"(?<!typename )(?<![\w:])(?=(?:\w+(?:<[^<>]*>)?::)+{name}\b)", "typename ", line)
    return line


def _types(complaints: Sequence[str]) -> Iterator[str]:
    """The names that are types, each once."""
    yield from dict.fromkeys(found[1] for one in complaints if (found := OF_TYPE.match(one)))

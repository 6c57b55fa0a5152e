"""Template arguments that a launch leaves to be deduced: the compiler says which function of a template it launches.

The arguments of a call do not give the address of a template. But you can declare a function that has the template's
head and parameters, and whose type names the kernel: the compiler deduces the same arguments for a call of it as for a
launch. Knows C++ as text; nvcc reports errors in it.
"""

import re
from dataclasses import dataclass

from kfuzz.common.text.cuda_text import blank_non_code, closing_bracket, split_commas
from kfuzz.devices import Call

HELPERS = """\
template <class F, F kernel> struct KfuzzKernel { static constexpr F value = kernel; };
template <class F> struct KfuzzResult;
template <class R, class... P> struct KfuzzResult<R(P...)> { typedef R type; };
"""
HEAD = re.compile(r"\btemplate\s*<")
NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
UNNAMED = re.compile(r"(?:(?:class|typename)(?:\s*\.\.\.)?|bool|int|unsigned|auto|size_t)$")


@dataclass(frozen=True)
class Template:
    """A kernel's template: its head and parameters as written, its arguments, and the namespaces around it."""

    head: tuple[str, ...]
    names: tuple[str, ...]
    parameters: str
    namespaces: tuple[str, ...]


def is_deduced(source: str, call: Call) -> bool:
    """Whether the call leaves some template arguments to the compiler."""
    template = find_template(source, bare_name(call.function))
    if template is None:
        return False
    written = split_commas(call.function.partition("<")[2].rstrip(" >")) if "<" in call.function else ()
    return len(written) < len(template.names) or any(name.endswith("...") for name in template.names)


def declare_kernel(source: str, number: int, call: Call) -> tuple[str, str]:
    """A function that represents a template, declared beside it, and the type of its call, which names the kernel."""
    template = find_template(source, bare_name(call.function))
    assert template is not None, call
    inside = f"{bare_name(call.function)}<{', '.join(template.names)}>"
    text = (
        f"template <{', '.join(template.head)}> __device__ KfuzzKernel<decltype(&{inside}), &{inside}> "
        f"kfuzz_of_{number}({template.parameters});"
    )
    for name in reversed(template.namespaces):
        text = f"namespace {name} {{ {text} }}"
    explicit = call.function[call.function.index("<") :] if "<" in call.function else ""
    path = "".join(f"{name}::" for name in template.namespaces if name)
    return text, f"decltype({path}kfuzz_of_{number}{explicit}({', '.join(call.arguments)}))"


def bare_name(function: str) -> str:
    """The name of a function without namespaces and template arguments."""
    return function.partition("<")[0].rpartition("::")[2].strip()


def find_template(source: str, name: str) -> Template | None:
    """The template of the `__global__` function of that name; None if it is not a template."""
    code = blank_non_code(source)
    for found in re.finditer(rf"\b__global__\b[^;{{}}]*?\b{re.escape(name)}\s*\(", code):
        heads = list(HEAD.finditer(code, 0, found.start()))
        if not heads or re.search(r"[;{}]", code[heads[-1].end() : found.start()]):
            continue
        start = heads[-1].end()
        end = _closing_angle(code, start)
        head = [_name_parameter(one, number) for number, one in enumerate(split_commas(code[start:end]))]
        opened = found.end() - 1
        parameters = code[opened + 1 : closing_bracket(code, opened)].replace("__grid_constant__", " ")
        names = tuple(map(_argument, head))
        return Template(tuple(head), names, " ".join(parameters.split()), _namespaces(code[: heads[-1].start()]))
    return None


def _closing_angle(code: str, start: int) -> int:
    """Index of the > that closes a < before `start`."""
    depth = 1
    for index in range(start, len(code)):
        depth += (code[index] in "<([{") - (code[index] in ">)]}")
        if not depth:
            return index
    return len(code)


def _name_parameter(parameter: str, number: int) -> str:
    """A template's parameter, with a name added if it has none."""
    kind, equals, default = parameter.partition("=")
    kind = kind.strip()
    named = f"{kind} kfuzz_{number}" if UNNAMED.fullmatch(kind) else kind
    return f"{named} = {default.strip()}" if equals else named


def _argument(parameter: str) -> str:
    """The argument that passes on a template's parameter."""
    kind = parameter.partition("=")[0].strip()
    name = re.findall(r"\w+", kind)[-1]
    return f"{name}..." if "..." in kind else name


def _namespaces(before: str) -> tuple[str, ...]:
    """The namespaces that are open at the end of a text, the outermost first; an unnamed one is empty."""
    opened: list[str | None] = []
    for mark in re.finditer(r"[{}]", before):
        if mark[0] == "{":
            head = NAMESPACE.search(before, 0, mark.start())
            opened.append(head[1] if head else None)
        elif opened:
            opened.pop()
    return tuple(part for name in opened if name is not None for part in (name.split("::") if name else [""]))

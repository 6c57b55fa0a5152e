"""The text of an issue for the authors of a library, about a kept case that breaks one of its functions.

    text = issue_text(kernel, record, replayed)

It stands alone: versions, a program that needs no kfuzz, what is right and why, and how that was certified. Nothing is
sent. Knows kernels that are Python files, cases and replays.
"""

import ast
import builtins
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version

import numpy as np
from mpmath import mp
from numpy.typing import NDArray

from kfuzz.campaign.trials.defect import Defect
from kfuzz.campaign.trials.replay import Replay
from kfuzz.cases.case import Record
from kfuzz.cases.errors import CaseError
from kfuzz.claims.kernel import Kernel
from kfuzz.devices import PythonCall
from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.elements import Element, values
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.numbers.verdict import Worst

DIGITS, BITS = 20, 2000
"""The digits that are shown, and the bits that they are computed with: 1 - tanh(100) is about 2^-288."""
MAKERS = {
    "numpy": "np.array({numbers}, np.{type})", "torch": "torch.tensor({numbers}, dtype=torch.{type})",
    "jax": "jnp.array({numbers}, jnp.{type})", "cupy": "cp.array({numbers}, cp.{type})",
}  # fmt: skip
IMPORTS = {
    "numpy": "import numpy as np",
    "torch": "import torch",
    "jax": "import jax.numpy as jnp",
    "cupy": "import cupy as cp",
}
NARROW = {"numpy": ("np.bfloat16", "ml_dtypes.bfloat16")}
"""What numpy's own module does not have."""
ON_GPU = {"torch": (")", ", device='cuda')")}
"""The end of an array on the GPU, where it would be on the CPU."""
FEWEST_IN_A_RUN = 5
"""So many equal numbers are written as a product of lists."""
MOST_NUMBERS = 1 << 17


@dataclass(frozen=True)
class ShortProgram:
    """Lines that print one element of the answer; `call`: how the function is called in the last one."""

    lines: tuple[str, ...]
    call: str


def issue_text(kernel: Kernel, record: Record, replayed: Replay, device: str = "cpu") -> str:
    """The issue as Markdown, its title first; CaseError if this case is none for the authors of a library."""
    program, worst = wrong_answer(kernel, record, replayed, device)
    return "\n".join(lines_of(kernel, record, replayed, replayed.defects[0], worst, program)) + "\n"


def wrong_answer(kernel: Kernel, record: Record, replayed: Replay, device: str) -> tuple[ShortProgram, Worst]:
    """A program, and the wrong element that it prints; CaseError if this case is none for the authors of a library."""
    if kernel.launches[0].called is None:
        raise CaseError(
            f"{kernel.name} is no Python file: kfuzz minimize --script writes a CUDA kernel's case as a program"
        )
    if not replayed.defects:
        raise CaseError(f"{kernel.name} gives a right answer for this case: there is nothing to report")
    defect = replayed.defects[0]
    if defect.worst is None:
        raise CaseError(f"{kernel.name}: {defect.message}: only a wrong answer becomes an issue")
    return program_of(kernel, record, defect.worst, device), defect.worst


def lines_of(
    kernel: Kernel, record: Record, replayed: Replay, defect: Defect, worst: Worst, program: ShortProgram
) -> Iterator[str]:
    """The issue, line by line."""
    element = element_of(kernel, worst)
    exact = exact_digits(kernel, record, worst)
    place = f"[{', '.join(map(str, worst.index))}]"
    yield f"# `{program.call}` gives {worst.got:.9g} in {element.library}, where {shortened(exact)} is right"
    yield ""
    yield f"Input: {'; '.join(f'{role}: {record.case.show(role)}' for role in record.case.arrays)}."
    yield ""
    yield "```python"
    yield from program.lines
    yield "```"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| element | `{place}` |"
    yield f"| it prints | {float(worst.got)!r} |"
    yield f"| the exact value | {exact} |"
    yield f"| a right answer in {element.library} lies in | [{worst.lo:.9g}, {worst.hi:.9g}] |"
    yield ""
    yield "## Versions"
    yield ""
    yield from (f"- {name} {number}" for name, number in versions(kernel))
    yield ""
    yield "## Why this is right"
    yield ""
    yield f"The definition: {definition(kernel)}"
    yield ""
    yield (
        "The exact value is that of the definition for the input as it is stored, computed by mpmath with "
        f"{BITS} bits. The interval holds every answer that the roundings of the claim allow, in any order of the "
        f"additions, after it is rounded to {element.library}: its ends are derived, not chosen. The claim is the "
        f"comment at the top of {kernel.path.name}."
    )
    if not np.isfinite(worst.got):
        yield "The exact value is a number that the type can hold; an intermediate result was not."
    yield ""
    yield "## How it was found and certified"
    yield ""
    smaller = " and made it as small as the wrong answer allows" if record.origin and record.origin.minimized else ""
    yield (
        f"kfuzz {version('kfuzz')} generated the input{smaller}. The answer was wrong in {replayed.broken_runs} of "
        f"{plural(replayed.runs, 'run')}. Ball arithmetic (Arb) certifies that it lies outside the interval. The "
        f"input has SHA-256 {record.case.digest[:16]}; kfuzz calls the finding `{defect.sign}`."
    )


def shortened(digits: str) -> str:
    """An exact value for a title."""
    return mp.nstr(mp.mpf(digits), 9) if digits[:1].isdigit() or digits[:1] == "-" else digits


def definition(kernel: Kernel) -> str:
    """The first paragraph of the op's text."""
    return " ".join((find(kernel.op).about or kernel.op).split("\n\n")[0].split())


def element_of(kernel: Kernel, worst: Worst) -> Element:
    """The type of the output."""
    return next(array.element for array in kernel.arrays.values() if array.writes == worst.output)


def exact_digits(kernel: Kernel, record: Record, worst: Worst) -> str:
    """The exact value of the worst element in 20 digits."""
    op, inputs = find(kernel.op), kernel.stored(record.case.arrays)
    scalars = {name: float(value) for name, value in kernel.scalars.items()}
    made = op.compute(inputs, scalars, BITS)[worst.output]
    with mp.workprec(BITS):
        return str(mp.nstr(mp.mpf(made[worst.index]), DIGITS))


def versions(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """The packages that the file imports, Python and the machine."""
    distributions = packages_distributions()
    names = (name for one in imports_of(ast.parse(kernel.source)) for name in imported(one))
    for package in dict.fromkeys(name.partition(".")[0] for name in names):
        for name in distributions.get(package, [])[:1]:
            try:
                yield name, version(name)
            except PackageNotFoundError:
                continue
    yield "Python", platform.python_version()
    yield platform.system(), platform.machine()


def imports_of(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a file; those in `exec("import ...")`, which hides one from kfuzz, too."""
    for statement in tree.body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                yield statement
            case ast.Expr(ast.Call(ast.Name("exec"), [ast.Constant(str(text))])):
                yield from imports_of(ast.parse(text))
            case _:
                pass


def imported(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that a statement imports."""
    if isinstance(statement, ast.ImportFrom):
        return [statement.module] if statement.module else []
    return [one.name for one in statement.names]


def program_of(kernel: Kernel, record: Record, worst: Worst, device: str) -> ShortProgram:
    """Imports, arrays, and a call; the file stands before the arrays if its function is more than one expression."""
    called = kernel.launches[0].called
    assert called is not None
    names = parameters_of(kernel, called)
    tree = ast.parse(kernel.source)
    expression = only_expression(tree, called.function, names)
    call = expression or f"{called.function}({', '.join(names)})"
    arrays = "; ".join(f"{name} = {text}" for name, text in array_texts(kernel, record, names, device))
    place = f"[{', '.join(map(str, worst.index))}]" if worst.index else ""
    last = f"print(float(({call}){place}))"
    own = IMPORTS[called.library]
    imports = [ast.unparse(one) for one in imports_of(tree)]
    if expression:
        return ShortProgram(("; ".join(dict.fromkeys([own, *narrow_import(arrays), *imports])), arrays, last), call)
    before = [one for one in tree.body if not isinstance(one, ast.Import | ast.ImportFrom)]
    lines = [
        *dict.fromkeys([own, *narrow_import(arrays), *imports]),
        "",
        *ast.unparse(ast.Module(before, [])).splitlines(),
    ]
    return ShortProgram((*lines, "", arrays, last), call)


def narrow_import(arrays: str) -> list[str]:
    """What numpy's bfloat16 needs."""
    return ["import ml_dtypes"] if "ml_dtypes." in arrays else []


def parameters_of(kernel: Kernel, called: PythonCall) -> list[str]:
    """The arrays that the function gets; CaseError if it gets anything else."""
    arrays = {name for name, array in kernel.arrays.items() if array.reads}
    if called.arguments != called.declared or not set(called.declared) <= arrays:
        raise CaseError(f"{kernel.name} takes more than its inputs, or an output: no program of a few lines calls it")
    return list(called.declared)


def only_expression(tree: ast.Module, function: str, names: Sequence[str]) -> str:
    """What the function returns, if it does nothing else and uses only its arrays, by their names, and imports."""
    found = next((one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == function), None)
    if found is None or len(found.body) != 1 or [one.arg for one in found.args.args] != list(names):
        return ""
    (statement,) = found.body
    if not isinstance(statement, ast.Return) or statement.value is None:
        return ""
    inner = [one for one in ast.walk(statement.value) if isinstance(one, ast.Name | ast.arg)]
    own = {one.arg if isinstance(one, ast.arg) else one.id for one in inner if not is_used(one)}
    known = {one.asname or one.name.partition(".")[0] for each in imports_of(tree) for one in each.names}
    used = {one.id for one in inner if isinstance(one, ast.Name)}
    return ast.unparse(statement.value) if used <= {*names, *own, *known, *dir(builtins)} else ""


def is_used(name: ast.Name | ast.arg) -> bool:
    """Whether a name stands for its value, and is not made here, as the variable of a lambda or a comprehension is."""
    return isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)


def array_texts(kernel: Kernel, record: Record, names: Sequence[str], device: str) -> Iterator[tuple[str, str]]:
    """A Python expression for each array, in the library's own type."""
    stored: Mapping[str, NDArray[np.generic]] = kernel.stored(record.case.arrays)
    called = kernel.launches[0].called
    assert called is not None
    for name in names:
        claimed = kernel.arrays[name]
        numbers = values(stored[str(claimed.reads)]) if claimed.element.is_float else stored[str(claimed.reads)]
        if numbers.size > MOST_NUMBERS:
            raise CaseError(
                f"{name} has {numbers.size} elements: at most {MOST_NUMBERS} are written; minimize the case first"
            )
        made = MAKERS[called.library].format(numbers=numbers_text(numbers.tolist()), type=claimed.element.library)
        made = made.replace(*NARROW.get(called.library, ("", "")))
        if device == "gpu" and called.library in ON_GPU:
            end, on_gpu = ON_GPU[called.library]
            made = made.removesuffix(end) + on_gpu
        yield name, made


def numbers_text(numbers: object) -> str:
    """Numbers as Python: lists, with runs of equal ones as products."""
    if not isinstance(numbers, list):
        return repr(numbers) if np.isfinite(numbers) else f"float('{numbers}')"  # type: ignore[call-overload]  # a number
    runs: list[tuple[str, int]] = []
    for one in map(numbers_text, numbers):
        runs[-1:] = [(one, runs[-1][1] + 1)] if runs and runs[-1][0] == one else [*runs[-1:], (one, 1)]
    parts: list[str] = []
    plain: list[str] = []
    for one, count in runs:
        if count < FEWEST_IN_A_RUN:
            plain += [one] * count
            continue
        parts += [f"[{', '.join(plain)}]"] if plain else []
        parts.append(f"[{one}] * {count}")
        plain = []
    return " + ".join([*parts, *([f"[{', '.join(plain)}]"] if plain or not parts else [])])

"""The claim of a Python callable that has none, from its text and the user's options.

Its arrays are the op's in their order, in f32. No trial confirms that; kfuzz prints the arguments of the call. Knows
claims as text.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language import front_matter, kernel_file
from kfuzz.claims.language.formula_claims import EPS
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.languages import language_of
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import OP
from kfuzz.claims.references.formats import read_submission
from kfuzz.claims.references.reference_files import name_of_reference
from kfuzz.common.modules import NamedCallable, find_callable
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError
from kfuzz.devices.python.libraries import array_library_of
from kfuzz.measure.roundings.constants import SMALL, constant_of, guessed_constants
from kfuzz.measure.roundings.guess_host import FunctionWords


def claim_for_python(path: Path, source: str, op: str, said: FunctionWords) -> str:
    """The claim in TOML of an unchanged file."""
    return claim_text(FrontMatter(path, source, "", 1, "", {"op": op}, language_of(path), "--op"), op, said, {})


def claim_by_reference(said: FunctionWords, reference: Path | None = None) -> str:
    """The claim in TOML of a file that has a reference, or another file's: arrays and sizes are those of its inputs."""
    call: dict[str, object] = {"reference": name_of_reference(reference)} if reference else {}
    call |= {"entry": said.entry} if said.entry else {}
    call |= {"given": {name: of[0] for name, of in said.arguments.items()}} if said.arguments else {}
    lines = [f'op = "{OP}"', *(["", "[call]"] if call else [])]
    return "\n".join([*lines, *(f"{key} = {front_matter.as_toml(one)}" for key, one in call.items())])


def kernel_of_module(target: str, op: str, said: FunctionWords, words: str) -> Kernel:
    """The kernel of `mypkg.softmax:forward`: a file of one line that imports it, with a claim."""
    found = find_callable(target)
    entry = found.name.rpartition(".")[2]
    path = Path(target)
    front = FrontMatter(path, source_of(found, entry), "", 1, "", {"op": op}, language_of(path), words)
    known = {"library": library_of(found), "entry": entry}
    function = read_submission(found.text).functions.get(found.name) if found.text else None
    if function is not None:
        parameters = ", ".join([*function.required, *(f"{name}=None" for name in function.optional)])
        stands_for = replace(front, source=f"def {entry}({parameters}{', **_' * function.is_variadic}): ...")
        toml = claim_text(stands_for, op, said, known)
    else:
        toml = claim_text(front, op, said, known)
    return read(kernel_file.beside(path, front.source, toml, words))


def source_of(found: NamedCallable, entry: str) -> str:
    """The text of a file whose functions include the callable."""
    if "." not in found.name:
        return f"from {found.module} import {found.name}\n"
    return f"import {found.module}\n\n{entry} = {found.module}.{found.name}\n"


def library_of(found: NamedCallable) -> str:
    """The library whose arrays it takes: its own package if that has arrays, else one that its module imports."""
    top = found.module.split(".")[0]
    return array_library_of([top], array_library_of(read_text(found.text).packages))


def constants_for(front: FrontMatter, op: str, said: FunctionWords) -> dict[str, str]:
    """The constants that are not the op's own; ClaimError if the file has several numbers that may be eps."""
    text = read_submission(front.source)
    function = text.functions.get(said.entry or next(iter(text.public), ""))
    small = [repr(one) for one in text.numbers if SMALL.fullmatch(repr(one))]
    found = guessed_constants(op, small, function.parameters if function else (), said.arguments)
    if len(found) > 1:
        numbers = ", ".join(one[EPS] for one in found)
        raise ClaimError(f"{shown_path(front.path)}: which of {numbers} is {EPS}? Say --arg {EPS}=NUMBER")
    return found[0]


def claim_text(front: FrontMatter, op: str, said: FunctionWords, known: Mapping[str, str]) -> str:
    """The claim of one callable: the op's arrays and sizes, and the arguments of the call."""
    several = {name: of for name, of in said.arguments.items() if len(of) > 1}
    call: dict[str, object] = {**known, **({"entry": said.entry} if said.entry else {})}
    call["given"] = {
        name: name if name in several else of[0] for name, of in said.arguments.items() if not constant_of(op, name)
    }
    tune = {name: [int(one) for one in of if one.lstrip("-").isdigit()] for name, of in several.items()}
    if any(len(tune[name]) < len(of) for name, of in several.items()):
        raise ClaimError("--arg: several values of an argument are whole numbers: threads=128,256")
    scalars = {name: float(value) for name, value in constants_for(front, op, said).items()}
    kernel = read(replace(front, values={"op": op, "tune": tune, "scalars": scalars, "call": call}))
    launch = kernel.launches[0]
    assert launch.called, "a Python file is called"
    tune = {name: list(values) for name, values in kernel.tune.items()}
    home = dict(zip(kernel.axes, said.home, strict=False))
    ranges = {name: f'"{axis}"' for name, axis in kernel.axes.items()}
    if said.only_home:
        ranges = {name: f"[{size}]" for name, size in home.items()}
    arrays = [f"{name} = {front_matter.as_toml(str(array))}" for name, array in kernel.arrays.items()]
    lines = [
        f'op     = "{kernel.op}"',
        f"axes   = {{ {', '.join(f'{name} = {given}' for name, given in ranges.items())} }}",
        *([f"tune   = {{ {', '.join(f'{name} = {of}' for name, of in tune.items())} }}"] if tune else []),
        f"arrays = {{ {', '.join(arrays)} }}",
        *([f"scalars = {front_matter.as_toml(scalars)}"] if scalars else []),
        "",
        "[call]",
        f'entry   = "{launch.called.function}"',
        f"args    = [{', '.join(front_matter.as_toml(one) for one in launch.called.arguments)}]",
        *([] if launch.called.is_guess else [f'library = "{launch.called.library}"']),
    ]
    if home:
        lines.append(f"home    = {{ {', '.join(f'{name} = {size}' for name, size in home.items())} }}")
    return "\n".join(lines)

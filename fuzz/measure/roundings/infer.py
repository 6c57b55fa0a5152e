"""A claim for an unchanged file, from its text and the user's options: `--op softmax --entry forward`.

A function of tensors has its arrays in the op's order, without a check; for any other file kfuzz takes the first guess
that is kept, as in `kfuzz claim`. So a wrong guess causes no false positive. Knows claims as text. Long,
since each language writes its claim from the same options.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from kfuzz.claims.kernel import Kernel, load, read
from kfuzz.claims.language import front_matter, kernel_file
from kfuzz.claims.language.fitted_op import place_axis, variants_of
from kfuzz.claims.language.formula_claims import EPS, constant_named
from kfuzz.claims.language.languages import language_of
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reference import OP
from kfuzz.claims.language.roles import roles_of
from kfuzz.claims.language.signature import entries_of, host_functions_of
from kfuzz.claims.references.references import ReferenceOp, op_by_reference
from kfuzz.common.installation import install_line
from kfuzz.common.printable import shown_path
from kfuzz.common.text.cuda_in_python import cuda_of, functions_in, has_cuda, list_cuda_calls
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings import guess_host
from kfuzz.measure.roundings.guess import Guess, check_op, guessed, op_of
from kfuzz.measure.roundings.guess_call import claim_by_reference, claim_for_python, kernel_of_module
from kfuzz.measure.roundings.guess_kernel import name_of, sizes_in

ENDING = ".py"
"""Of an op in a file of its own."""
OP_FILE = re.compile(r"""^\s*op\s*=\s*(["']([^"'\n]+\.py)["'])""", re.MULTILINE)
SAID_IN_A_FILE = ("op", "entry", "home", "arguments", "accuracy", "values")
"""Keys of a claim for many files, each of which has its own function and arrays."""


@dataclass(frozen=True)
class Unclaimed:
    """The options for files without a claim. `claim`: a file with a claim in TOML, or a part of one."""

    op: str = ""
    said: guess_host.FunctionWords = field(default_factory=guess_host.FunctionWords)
    shapes: str = ""
    """"home" leaves out all other shapes, "any" lets them count as the one that it was written for."""
    claim: Path | None = None
    reference: Path | None = None
    """The file, or the folder, of the function that says what is right."""
    by_names: bool = False
    """Each file computes the op that its own names suggest."""

    @property
    def words(self) -> str:
        """The options as text, to type again."""
        words = ["--claim", shown_path(self.claim)] if self.claim else []
        words += ["--reference", shown_path(self.reference)] if self.reference else []
        words += ["--op", self.op] if self.op and not self.reference else []
        words += ["--entry", self.said.entry] if self.said.entry else []
        words += ["--home", "x".join(map(str, self.said.home))] if self.said.home else []
        words += [word for name, of in self.said.arguments.items() for word in ("--arg", f"{name}={','.join(of)}")]
        words += ["--shapes", self.shapes] if self.shapes else []
        return shlex.join(words)


@dataclass(frozen=True)
class GuessedClaim:
    """A claim in TOML, and the guess that it is, if trials chose it."""

    toml: str
    guess: Guess | None = None


ClaimWriter = Callable[[Path, str, str, guess_host.FunctionWords], tuple[str, GuessedClaim]]
"""Of a path, a text, an op and the options it makes the text that a claim describes, and its claim."""


def kernel_with(path: Path, unclaimed: Unclaimed) -> Kernel:
    """The kernel of a file: by its own claim if it has one, else by the options and its text."""
    return guess_with(path, unclaimed).kernel


def guess_with(path: Path, unclaimed: Unclaimed) -> Guess:
    """The kernel of a file, as kernel_with finds it, with what the trials of a guess have found."""
    source = front_matter.text_of(path)
    if front_matter.has_claim(source):
        return Guess(load(path))
    if unclaimed.by_names:
        return guess_by_names(path, source)
    toml, said = "", unclaimed.said
    op, language = place_op(unclaimed.op, Path()), language_of(path)
    if unclaimed.claim:
        toml = with_placed_op(front_matter.text_of(unclaimed.claim), unclaimed.claim.parent)
        values = kernel_file.beside(path, source, toml, unclaimed.words).values
        if any(key in values for key in language.whole_claim):
            return Guess(read(kernel_file.beside(path, source, toml, unclaimed.words)))
        op, said, toml = part_of(replace(unclaimed, op=op), values)
    if language.names_reference and op == OP:
        check_shapes(shown_path(path), said)
        written = claim_by_reference(said, unclaimed.reference)
        return Guess(read(kernel_file.beside(path, source, written + toml, unclaimed.words)))
    if op == OP and unclaimed.reference:
        found = op_by_reference(path, source, unclaimed.reference)
        op, said = found.op, with_given(source, said, found)
        sizes = sizes_in(roles_of(op))
        said = replace(said, home=tuple(found.home[name] for name in sizes if found.home.keys() >= {*sizes}))
    check_op(shown_path(path), op)
    op = place_axis(op, said.arguments)
    check_home(op, said)
    source, claim = writer_for(path)(path, source, op, said)
    kernel = read(kernel_file.beside(path, source, claim.toml + toml, unclaimed.words))
    return replace(claim.guess, kernel=kernel) if claim.guess else Guess(kernel)


def guess_by_names(path: Path, source: str) -> Guess:
    """A guess of the op that the names in a file suggest; a ClaimError with the command if they suggest none.

    Trials test it in every case, that of a function of tensors too: here its op is a guess as well.
    """
    op, where = op_of(path.stem, source), shown_path(path)
    if op is None:
        raise ClaimError(
            f"{where}: CUDA without a claim; say what it computes: kfuzz fuzz {where} --op OP; kfuzz op lists all"
        )
    found = guessed(path, source, op, guess_host.BY_NAMES)
    return replace(found, kernel=read(kernel_file.beside(path, source, found.kernel.front.toml, f"--op {op}")))


def writer_for(path: Path) -> ClaimWriter:
    """How the claim of a file is written; ClaimError if its language has none."""
    language = language_of(path)
    if language.name not in WRITERS:
        raise ClaimError(f"{shown_path(path)}: kfuzz derives no claim for {language.name}: write one into the file")
    return WRITERS[language.name]


def write_for_cuda(path: Path, source: str, op: str, said: guess_host.FunctionWords) -> tuple[str, GuessedClaim]:
    """The text and its claim."""
    check_entry(path, source, op, said)
    return source, claim_for(path, source, op, said)


def write_for_python(path: Path, source: str, op: str, said: guess_host.FunctionWords) -> tuple[str, GuessedClaim]:
    """The text and the claim of its function, or the CUDA in its strings and the claim of that, if that is meant."""
    if not means_cuda(path, source, said):
        return source, GuessedClaim(claim_for_python(path, source, op, said))
    said = replace(said, entry=said.entry or only_function(source, shown_path(path)))
    return write_for_cuda(path, cuda_of(source, shown_path(path), said.entry), op, said)


WRITERS: Mapping[str, ClaimWriter] = {"cuda": write_for_cuda, "python": write_for_python}
"""How a claim is derived from the text and the options, by the language of the file."""


def with_given(source: str, said: guess_host.FunctionWords, found: ReferenceOp) -> guess_host.FunctionWords:
    """The options with the function that a benchmark calls, and the numbers that it hands over."""
    said = replace(said, arguments={**numbers_by_name(source, found.numbers), **said.arguments})
    if said.entry or not found.given:
        return said
    functions = host_functions_of(source)
    fitting = [
        name for name in guess_host.bound_in(source, functions) if guess_host.takes(functions[name], found.given)
    ]
    exported = [name for name in guess_host.bound_in(source, functions, found.exported) if name in fitting]
    if len(fitting) != 1 and len(exported) != 1:
        return said
    entry = (exported or fitting)[0]
    numbers = {name_of(one): (value,) for one, value in zip(functions[entry], found.given, strict=True) if value}
    return replace(said, entry=entry, arguments={**numbers, **said.arguments})


def numbers_by_name(source: str, numbers: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The numbers that a reference gets, for C++ arguments of its names, or for its floats in their order if there are
    as many.
    """
    named = {constant_named(name, (EPS,)) or name: value for name, value in numbers.items()}
    fractions = [value for value in numbers.values() if not value.lstrip("-").isdigit()]
    found: dict[str, str] = {}
    for parameters in {**host_functions_of(source), **entries_of(source)}.values():
        alone = {name_of(one): one.is_float for one in parameters if not one.is_pointer and one.bytes}
        found |= {name: named[one] for name in alone if (one := constant_named(name, (EPS,)) or name) in named}
        floats = [name for name, is_float in alone.items() if is_float]
        if len(floats) == len(fractions):
            found = {**dict(zip(floats, fractions, strict=True)), **found}
    return {name: (value,) for name, value in found.items()}


def place_op(op: str, folder: Path) -> str:
    """An op in a file, `./my_op.py`, by its whole path: it lies in this folder, and not beside the kernel."""
    return str((folder / op).resolve()) if op.endswith(ENDING) else op


def with_placed_op(toml: str, folder: Path) -> str:
    """A claim whose op, if it is a file, is named by its whole path."""
    found = OP_FILE.search(toml)
    if found is None:
        return toml
    return f"{toml[: found.start(1)]}{json.dumps(place_op(found[2], folder))}{toml[found.end(1) :]}"


def means_cuda(path: Path, source: str, said: guess_host.FunctionWords) -> bool:
    """Whether the CUDA in a Python file's strings is meant: the named function is not Python's, or torch is missing.

    Otherwise kfuzz calls the Python around it.
    """
    if not has_cuda(source):
        return False
    if said.entry:
        return said.entry not in read_text(source).names
    if find_spec("torch") is not None:
        return False
    try:
        return bool(list_cuda_calls(source, shown_path(path)))
    except ClaimError as error:
        raise ClaimError(f"{error}; with torch the file is run: {install_line('torch')}") from None


def only_function(source: str, where: str) -> str:
    """The function requested from load_inline, if it is one; else a name that the CUDA in the file gives."""
    names = functions_in(source, where)
    return names[0] if len(names) == 1 else ""


def kernel_named(target: str, unclaimed: Unclaimed | None) -> Kernel:
    """The kernel of a callable in a module, `mypkg.softmax:forward`; the op must be given."""
    if unclaimed and unclaimed.claim:
        raise ClaimError(f"{target}: --claim is for files; of a callable in a module say --op, --arg and --home")
    op = place_op(unclaimed.op, Path()) if unclaimed else ""
    check_op(target, op)
    assert unclaimed, "it says the op"
    op = place_axis(op, unclaimed.said.arguments)
    check_home(op, unclaimed.said)
    if unclaimed.said.entry:
        raise ClaimError(f"{target}: the function is named already; leave --entry out")
    return kernel_of_module(target, op, unclaimed.said, unclaimed.words)


def part_of(unclaimed: Unclaimed, values: Mapping[str, object]) -> tuple[str, guess_host.FunctionWords, str]:
    """The op and options of a part of a claim, merged with the command line's, and its accuracy and values tables."""
    where = shown_path(unclaimed.claim or Path())
    if unknown := [key for key in values if key not in SAID_IN_A_FILE]:
        raise ClaimError(f"{where}: {unknown[0]}: a claim for many files may have {', '.join(SAID_IN_A_FILE)}")
    home, arguments, said = values.get("home", []), values.get("arguments", {}), unclaimed.said
    sizes = list(home.values()) if isinstance(home, dict) else home
    if not isinstance(sizes, list) or not all(type(one) is int and one > 0 for one in sizes):
        raise ClaimError(f"{where}: home: sizes are wanted, such as {{ rows = 16, cols = 1024 }}")
    if not isinstance(arguments, dict):
        raise ClaimError(f"{where}: arguments: a table is expected, such as {{ threads = [128, 256] }}")
    given = {name: tuple(map(str, one if isinstance(one, list) else [one])) for name, one in arguments.items()}
    tables = ""
    for name in ("accuracy", "values"):
        table = values.get(name, {})
        if isinstance(table, dict) and table:
            tables += f"\n\n[{name}]\n" + "\n".join(
                f"{key} = {front_matter.as_toml(one)}" for key, one in table.items()
            )
    return (
        unclaimed.op or str(values.get("op", "")),
        guess_host.FunctionWords(
            said.entry or str(values.get("entry", "")),
            said.home or tuple(sizes),
            {**given, **said.arguments},
            unclaimed.shapes == "home",
        ),
        tables,
    )


def check_entry(path: Path, source: str, op: str, said: guess_host.FunctionWords) -> None:
    """Raise a ClaimError that says which option to give, if the file has several functions."""
    where, entries = shown_path(path), guess_host.entries_for(source)
    if not said.entry and len(entries) > 1:
        raise ClaimError(f"{where}: it has {', '.join(entries)}: say which computes {op}: --entry {entries[0]}")


def check_shapes(where: str, said: guess_host.FunctionWords) -> None:
    """Raise a ClaimError for options that do not go with a reference, which has its own sizes."""
    if said.home or said.only_home:
        raise ClaimError(f"{where}: --home is of an op; beside a reference write axes and home into a claim")


def check_home(op: str, said: guess_host.FunctionWords) -> None:
    """Raise a ClaimError if the given shape does not fit the op."""
    sizes = sizes_in(roles_of(op))
    if said.home and len(said.home) != len(sizes):
        raise ClaimError(f"--home: {op} has the sizes {' x '.join(sizes)}; {len(said.home)} are given")
    if said.only_home and not said.home:
        raise ClaimError("--shapes home: say which: --home 16x1024")


def claim_for(path: Path, source: str, op: str, said: guess_host.FunctionWords) -> GuessedClaim:
    """The claim: from the text alone for a function that returns tensors, else the first guess that is kept.

    A function that takes its outputs may take them first or last, and a text may have several numbers that may be eps;
    a wrong guess would cause false positives.
    """
    entries = [said.entry] if said.entry else guess_host.entries_for(source)
    constants, roles = dict[str, str](), roles_of(op)
    for toml in (toml for one in variants_of(op) for toml in guess_host.host_claims(one, source, said)):
        read_back = tomllib.loads(toml)
        is_returned = any(one.startswith(guess_host.RETURNED) for one in read_back["arrays"])
        is_known = bool(roles.fixed) or not roles.has_derived_dimensions
        if read_back["host"]["entry"] in entries and is_returned and is_known:
            constants.setdefault(str(read_back.get("scalars")), toml)
    if len(constants) == 1:
        return GuessedClaim(next(iter(constants.values())))
    found = guessed(path, source, op, said)
    return GuessedClaim(found.kernel.front.toml, found)

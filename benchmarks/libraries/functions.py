"""The functions of Python libraries, as data: tests/data/library_functions/floats/LIBRARY.toml lists those of one.

    package  the package whose version counts          imports  what a program imports, one module each
    types    the element types, and the library's      made     an array of NUMBERS and TYPE, in a program
             names for them                            given, answer   an array of kfuzz's, and back
    environment  variables that it reads when it is imported
    made_gpu the same array on a GPU, and integers_gpu, where they are not those of a CPU
    setup    a line of the program before the call     helpers  lines of the claim, for given and answer
    call     how OPERATOR is called, if by more than itself
    devices  where it runs                             around   a decorator of the function
    shown    the answer in a program, if float(answer[0, 0]) does not give a number
    index    the type of its integers, and integers: an array of them, in a program
    strides  "any": it takes arrays that are not contiguous
    flags    compiler flags of its kernels, which are part of the claim
    without  packages whose own __init__ is not run, since it needs more than these functions do
    absent   why it is not judged where it is not installed, if no wheel of it can be installed everywhere
    arrays   the library whose arrays it takes, if not numpy's
    [[documentation]]  a sentence of the library's documentation about some functions, types or answers, word for word

The other tables are shapes of shapes.toml: each row is a function by its name, and its expression in the arrays.
Adding a library is adding a file. Knows TOML and claims; it judges nothing.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kfuzz.ui.reports.upstream import numbers_text

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "library_functions" / "floats"
SHAPES = "shapes"
KEYS = ("package", "imports", "types", "made", "given", "answer", "setup", "helpers", "call", "devices", "around")
ALSO = ("arrays", "index", "shown", "strides", "integers", "made_gpu", "integers_gpu", "documentation", "environment")
SELDOM = ("flags", "without", "absent")
RANGES = {"f32": "[-3.4e38, 3.4e38]", "bf16": "[-3.38e38, 3.38e38]", "f16": "[-65504, 65504]"}
"""Numbers that do not become infinite in their type."""
KNOWN = ("numpy", "torch", "jax", "ml_dtypes", "cupy", "cupyx", "triton")
"""kfuzz imports a file with other modules once more to learn whose arrays it takes; the claim says so already. By these
it knows the arithmetic: CuPy's kernels read denormals as 0."""
WITHOUT = (
    "import sys, importlib.util as util; "
    "[sys.modules.setdefault(one, util.module_from_spec(util.find_spec(one))) for one in NAMES]"
)
"""Makes packages whose modules can be imported, and does not run their own code."""
IN_SIXTEEN_BITS = frozenset((
    "soft_margin", "elu", "celu", "selu", "softsign", "hardsigmoid", "hardswish", "sinh", "cosh", "asinh", "atanh",
    "logit", "log_cosh", "entr", "sinc", "reciprocal", "slope_of_sigmoid", "slope_of_tanh", "slope_of_silu",
    "slope_of_mish", "hypot", "xlogy", "zscore", "gelu", "gelu_tanh", "mish", "log10", "bce_with_logits", "huber",
    "logaddexp", "geglu", "geglu_tanh", "swiglu_of_one_more",
))  # fmt: skip
"""Functions that are judged in 16 bits alone, since no error of theirs is documented: there one rounding is allowed,
and a function that errs by a few units of float32 keeps the claim. In float32 another formula would be accused."""

IN_FLOAT32 = (
    "not tried in float32: no error of the function is documented there, and another formula of it would be accused; "
    "in 16 bits one rounding is allowed"
)


@dataclass(frozen=True)
class Documented:
    """What a library's documentation says: of some functions, or of all whose answers are infinite or NaN."""

    says: str
    at: str
    functions: tuple[str, ...] = ()
    answers: str = ""
    but: tuple[str, ...] = ()
    """Functions of which it does not speak."""
    types: tuple[str, ...] = ()

    def allows(self, function: str, element: str, is_infinite: bool) -> bool:
        """Whether it speaks of such an answer of a function."""
        of_function = function not in self.but and (not self.functions or function in self.functions)
        of_type = not self.types or element in self.types
        return of_function and of_type and (self.answers != "infinite" or is_infinite)


@dataclass(frozen=True)
class Library:
    """A file of the list."""

    name: str
    words: Mapping[str, Any] = field(compare=False)

    @property
    def package(self) -> str:
        return str(self.words["package"])

    @property
    def devices(self) -> Sequence[str]:
        return tuple(self.words.get("devices", ("cpu",)))

    @property
    def imports(self) -> list[str]:
        every = [one if one.startswith("from ") else f"import {one}" for one in self.words["imports"]]
        return [*([WITHOUT.replace("NAMES", repr(self.words["without"]))] if "without" in self.words else []), *every]

    @property
    def documentation(self) -> list[Documented]:
        return [
            Documented(
                one["says"],
                one["at"],
                tuple(one.get("functions", ())),
                one.get("answers", ""),
                tuple(one.get("but", ())),
                tuple(one.get("types", ())),
            )
            for one in self.words.get("documentation", ())
        ]

    def functions(self) -> Iterator["Function"]:
        """Its functions, each in each type in which it is judged."""
        return (one for one in self._every() if not one.left_out)

    def left_out(self) -> Iterator["Function"]:
        """Those that are not judged."""
        return (one for one in self._every() if one.left_out)

    def _every(self) -> Iterator["Function"]:
        for shape, calls in self.words.items():
            if shape not in (*KEYS, *ALSO, *SELDOM):
                for function, operator in calls.items():
                    yield from (Function(self, shape, function, operator, element) for element in self.words["types"])


@dataclass(frozen=True)
class Function:
    """A function of a library for one element type: what it is called, and what it computes."""

    of: Library
    shape: str
    name: str
    operator: str
    element: str

    @property
    def library(self) -> str:
        return self.of.name

    @property
    def key(self) -> str:
        return f"{self.shape}-{self.name}-{self.element}"

    @property
    def left_out(self) -> str:
        """Why it is not judged; empty if it is."""
        is_not_tried = self.element == "f32" and self.name in IN_SIXTEEN_BITS and self.shape != "rows"
        return IN_FLOAT32 if is_not_tried else ""

    @property
    def call(self) -> str:
        return self.operator

    @property
    def expression(self) -> str:
        return self._filled(self.of.words.get("call", "OPERATOR"))

    @property
    def roles(self) -> Mapping[str, str]:
        """The names of the arrays that it takes, and of the op's roles that they have."""
        arrays = shapes()[self.shape]["arrays"].items()
        return {name: text.split("->")[1].strip() for name, text in arrays if "->" in text}

    def _filled(self, text: str) -> str:
        """A text of the file with this function's words."""
        numpy = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}[self.element]
        return (
            text.replace("OPERATOR", self.operator)
            .replace("NUMPY", numpy)
            .replace("TYPE", self.of.words["types"][self.element])
        )

    @property
    def package(self) -> str:
        return self.of.package

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it needs, without the arrays' own."""
        return tuple(one.removeprefix("from ").split()[0].strip(";") for one in self.of.words["imports"])

    @property
    def environment(self) -> Mapping[str, str]:
        return dict(self.of.words.get("environment", {}))

    @property
    def absent(self) -> str:
        return str(self.of.words.get("absent", "not installed"))

    def write(self, folder: Path, device: str) -> Path:
        """Write the file that kfuzz tries, and its op beside it."""
        path = folder / self.library / f"{self.key}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(self._write_op(path)), encoding="utf-8")
        return path

    def _write_op(self, path: Path) -> str:
        """The op of the claim: one of kfuzz's, or a file."""
        op = shapes()[self.shape]["op"].replace("FUNCTION", self.name)
        file = FOLDER / "ops" / f"{op}.py"
        if not file.exists():
            return str(op)
        own = path.parent / "ops" / f"{self.key}.py"
        own.parent.mkdir(exist_ok=True)
        text = file.read_text(encoding="utf-8").replace('"FUNCTION"', repr(self.name))
        text = text.replace("; FUNCTION is a name below", "").replace("FUNCTION(", f"{self.name}(")  # its docstring
        own.write_text(text, encoding="utf-8")
        return str(own)

    def text(self, op: str) -> str:
        """The file: the claim, and a function that calls the library's."""
        shape, words = shapes()[self.shape], self.of.words
        typed = {name: text if text[0] != "[" else f"{self.element}{text}" for name, text in shape["arrays"].items()}
        arrays = ", ".join(
            f'{name} = "{text.replace("INDEX", words.get("index", "i32"))}"' for name, text in typed.items()
        )
        claim = [f'op = "{op}"', f"axes = {shape['axes']}", f"arrays = {{ {arrays} }}", "[call]"]
        claim.append(f'library = "{words.get("arrays", "numpy")}"')
        if "strides" in words:
            claim.append(f'strides = "{words["strides"]}"')
        if "flags" in words:
            claim += ["[accuracy]", f"flags = {list(words['flags'])}".replace("'", '"')]
        if shape.get("finite"):
            claim += ["[values]", "finite = true", f"range = {RANGES[self.element]}"]
        names = list(self.roles)
        given = [f"    {name} = {words['given'].replace('ARRAY', name)}" for name in names if "given" in words]
        lines = [
            "# /// kernel",
            *(f"# {line}" for line in claim),
            "# ///",
            *(one if one.split()[1].split(".")[0] in KNOWN else f"exec({one!r})" for one in self.of.imports),
            "",
            *self._filled(words.get("helpers", "")).splitlines(),
            *self._filled(words.get("setup", "")).splitlines(),
            "",
            *([words["around"]] if "around" in words else []),
            f"def forward({', '.join(names)}):",
            *given,
            f"    return {words.get('answer', 'CALL').replace('CALL', self.expression)}",
        ]
        return "\n".join(lines) + "\n"

    def program(
        self, arrays: Mapping[str, Any], index: Sequence[int], device: str, by_columns: bool = False
    ) -> tuple[str, ...]:
        """Three lines that print an element of the answer, without kfuzz. Rows of arrays are contiguous, or columns."""
        words = self.of.words
        every = words.get(f"made_{device}", words["made"])
        integers = words.get(f"integers_{device}", words.get("integers", every.split("(")[0] + "(NUMBERS)"))
        made = [integers if name == "labels" else every for name in self.roles]
        values = []
        for text, (name, role) in zip(made, self.roles.items(), strict=True):
            array, is_turned = arrays[role], by_columns and arrays[role].ndim == 2
            numbers = numbers_text(
                (array.T if is_turned else array).astype(int if name == "labels" else float).tolist()
            )
            values.append(self._filled(text).replace("NUMBERS", numbers) + ".T" * is_turned)
        setup = self._filled(words.get("setup", "")).strip()
        place = f"[{', '.join(map(str, index))}]" if index else ""
        return (
            "; ".join(self.of.imports),
            f"{setup + '; ' if setup else ''}{', '.join(self.roles)} = {', '.join(values)}",
            f"print(float({words.get('shown', '(CALL)').replace('CALL', self.expression)}{place}))",
        )


@cache
def shapes() -> Mapping[str, Any]:
    """The shapes of functions."""
    return tomllib.loads((FOLDER / f"{SHAPES}.toml").read_text(encoding="utf-8"))


@cache
def library(name: str) -> Library:
    """One file of the list."""
    return Library(name, tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")))


def libraries() -> list[str]:
    """The names of the files."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != SHAPES)

"""Solutions in JSON: the sources in one file, and beside it the definition of the problem that they solve.

`solution.json` holds the sources, `definition.json` the axes, the arrays and a reference in torch. kfuzz unpacks them
into its cache, with a claim made from the definition. Knows JSON and files; never what a claim means.
"""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from kfuzz.claims.language.front_matter import with_claim
from kfuzz.claims.references.definitions import read_definition
from kfuzz.common.errors import TargetError
from kfuzz.devices import cache

FOLDER = "submissions"
DEFINITION = "definition.json"
REFERENCE = "reference.py"
COMPILED = (".cu", ".cpp")
WRAPPER = "built_by_torch.py"
"""The Python file with which kfuzz calls the C++ of a solution."""


def unpack(path: Path, title: str) -> Path:
    """Unpack a solution: the Python file of its entry point, with its claim, its other sources and its reference.

    `title`: of the format that it has, which its reference names.
    """
    solution = read(path)
    beside = definition_of(path)
    document = read(beside)
    try:
        spec = solution["spec"]
        file, _, entry = spec["entry_point"].partition("::")
        sources = {one["path"]: one["content"] for one in solution["sources"]}
        definition = read_definition(document)
        claim = definition.claim(entry, bool(spec.get("destination_passing_style", True)))
    except (KeyError, TypeError, AttributeError) as error:
        raise TargetError(f"{path}: not a solution of a benchmark: {error} is missing or has another type") from None
    if file not in sources or PurePosixPath(file).suffix not in (".py", *COMPILED):
        raise TargetError(f"{path}: its entry point {file} is not one of its own files of Python or CUDA")
    if outside := [name for name in sources if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts]:
        raise TargetError(f"{path}: a source lies outside of its folder: {outside[0]}")
    folder = cache.folder() / FOLDER / cache.key(str(path.resolve()))[:16]
    texts = dict(sources)
    if PurePosixPath(file).suffix in COMPILED:
        if (binding := spec.get("binding", "tvm-ffi")) != "torch":
            raise TargetError(f"{path}: its functions are bound by {binding}; kfuzz builds extensions of torch")
        file = WRAPPER
        texts[file] = wrapper(entry, sources, spec.get("compile_options") or {})
    texts[file] = f"{with_claim('#', claim)}\n{texts[file]}"
    texts[str(PurePosixPath(file).with_name(REFERENCE))] = definition.reference(mark_of(title))
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / str(file)


def wrapper(entry: str, sources: Mapping[str, str], options: Mapping[str, Any]) -> str:
    """A Python file that lets torch build the C++ of a solution, and calls its entry."""
    built = [name for name in sources if PurePosixPath(name).suffix in COMPILED]
    flags = list(options.get("cuda_cflags") or [])
    return f"""from pathlib import Path

from torch.utils.cpp_extension import load

HERE = Path(__file__).parent
BUILT = load("solution", [str(HERE / name) for name in {built!r}], extra_cuda_cflags={flags!r})


def {entry}(*arguments):
    return BUILT.{entry}(*arguments)
"""


def mark_of(title: str) -> str:
    """The line above a reference that says which format its definition has."""
    return f"# of a definition of {title}"


def is_unpacked_by(title: str, reference: str) -> bool:
    """Whether a reference with this text came with a definition of this format."""
    return mark_of(title) in reference.splitlines()


def definition_beside(path: Path) -> Mapping[str, Any]:
    """The definition beside a solution; nothing if there is none that can be read."""
    try:
        return read(path.with_name(DEFINITION)) if path.suffix == ".json" else {}
    except TargetError:
        return {}


def definition_of(path: Path) -> Path:
    """The definition beside a solution."""
    definition = path.with_name(DEFINITION)
    if not definition.is_file():
        raise TargetError(f"{path}: there is no {DEFINITION} beside it to say what it solves")
    return definition


def read(path: Path) -> Mapping[str, Any]:
    """A JSON file that holds an object."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TargetError(f"{path}: cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise TargetError(f"{path}: a JSON object is expected")
    return document

"""Submissions in JSON: a solution in one file, and beside it the definition of the problem that it solves.

flashinfer-bench and SOL-ExecBench use them: `solution.json` holds the sources, `definition.json` the axes, the arrays
and a reference in torch. kfuzz unpacks them into its cache, with a claim made from the definition. Knows JSON and
files; never what a claim means.
"""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from kfuzz.claims.front_matter import with_claim
from kfuzz.devices import cache
from kfuzz.find.errors import TargetError
from kfuzz.oracle.elements import FLOATS, I32

FOLDER = "submissions"
DEFINITION = "definition.json"
ELEMENTS = {one.library: one for one in (*FLOATS, I32)}
LONGEST = "1..4096"
REFERENCE = "reference.py"


def is_solution(path: Path) -> bool:
    """Whether a target is a JSON file."""
    return path.suffix == ".json" and path.is_file()


def unpack(path: Path) -> Path:
    """Unpack a solution: the Python file of its entry point, with its claim, its other sources and its reference."""
    solution, definition = read(path), read(definition_of(path))
    try:
        spec = solution["spec"]
        file, _, entry = spec["entry_point"].partition("::")
        sources = {one["path"]: one["content"] for one in solution["sources"]}
        claim = claim_of(definition, entry, bool(spec.get("destination_passing_style", True)))
        reference = definition["reference"]
    except (KeyError, TypeError, AttributeError) as error:
        raise TargetError(f"{path}: not a solution of a benchmark: {error} is missing or has another type") from None
    if PurePosixPath(file).suffix != ".py" or file not in sources:
        raise TargetError(f"{path}: its entry point {file} is not one of its own Python files")
    if outside := [name for name in sources if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts]:
        raise TargetError(f"{path}: a source lies outside of its folder: {outside[0]}")
    texts = {**sources, file: f"{with_claim('#', claim)}\n{sources[file]}"}
    texts[str(PurePosixPath(file).with_name(REFERENCE))] = f"{reference}\n\nreference = run\n"
    folder = cache.folder() / FOLDER / cache.key(str(path.resolve()))[:16]
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / str(file)


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


def claim_of(definition: Mapping[str, Any], entry: str, takes_outputs: bool) -> str:
    """The claim in TOML: the definition's axes and arrays, and its reference as the op."""
    inputs, outputs = definition["inputs"], definition["outputs"]
    axes = {name: f"[{one['value']}]" if "value" in one else f'"{LONGEST}"' for name, one in definition["axes"].items()}
    roles = {name: "y" if len(outputs) == 1 else f"y{number}" for number, name in enumerate(outputs)}
    arrays = [f'{name} = "{array_of(name, one)} -> {name}"' for name, one in inputs.items()]
    arrays += [f'{name} = "{array_of(name, one)} <- {roles[name]}"' for name, one in outputs.items()]
    used = {size for one in inputs.values() for size in one["shape"]}
    args = [*inputs, *(outputs if takes_outputs else ())]
    return "\n".join(
        [
            'op     = "reference"',
            f"axes   = {{ {', '.join(f'{name} = {one}' for name, one in axes.items() if name in used)} }}",
            f"arrays = {{ {', '.join(arrays)} }}",
            "",
            "[call]",
            f'entry = "{entry}"',
            f"args  = [{', '.join(json.dumps(name) for name in args)}]",
        ]
    )


def array_of(name: str, tensor: Mapping[str, Any]) -> str:
    """An array as a claim writes it."""
    if not tensor.get("shape") or tensor["dtype"] not in ELEMENTS:
        raise TargetError(f"{name}: a tensor of {', '.join(ELEMENTS)} is expected, not {tensor}")
    return f"{ELEMENTS[tensor['dtype']]}[{', '.join(map(str, tensor['shape']))}]"

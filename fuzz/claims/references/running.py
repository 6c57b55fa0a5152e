"""The formula of a reference that kfuzz runs, for the sizes and integers of one case.

A process of its own, which stays up, runs the reference and writes the formula; kfuzz keeps it in its cache. Knows
files and processes; torch is not imported.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuzz.claims.references import serving
from kfuzz.devices import cache
from kfuzz.oracle.numbers.errors import OracleError

SERVER = "kfuzz.claims.references.torch.run_server"
FOLDER = "runs"
QUESTION = ".run.json"
"""The ending of the file beside a formula that says how to run its reference."""
KEPT = 64
ByRuns = Callable[..., Any]


def formula_at(file: str, given: Mapping[str, Any]) -> ByRuns:
    """The formula for the shapes of these inputs, and for the integers among them."""
    whole = tuple(
        (name, one.shape, one.tobytes() if isinstance(one, np.ndarray) else b"", str(getattr(one, "dtype", "")))
        for name, one in given.items()
    )
    return _formula_of(file, whole)


@functools.lru_cache(maxsize=KEPT)
def _formula_of(file: str, whole: tuple[tuple[str, tuple[int, ...], bytes, str], ...]) -> ByRuns:
    question = Path(file).with_suffix(QUESTION).read_text(encoding="utf-8")
    parts = [part for name, shape, raw, kind in whole for part in (name, str(shape), kind, raw)]
    folder = f"{FOLDER}/{cache.key('run 2', question, *parts)}"
    text, constants = (cache.fetch(f"{folder}.{ending}") for ending in ("py", "npz"))
    if text is None or constants is None:
        inputs = {name: _input_of(shape, raw, kind) for name, shape, raw, kind in whole}
        text, constants = ask(question, inputs)
        cache.save(f"{folder}.py", text)
        cache.save(f"{folder}.npz", constants)
    with cache.scratch() as into:
        (into / "constants.npz").write_bytes(constants)
        with np.load(into / "constants.npz") as held:
            space: dict[str, Any] = {"CONSTANTS": {name: held[name] for name in held.files}}
    exec(compile(text, file, "exec"), space)  # noqa: S102  the text of our own rules
    formula: ByRuns = space["formula"]
    return formula


def _input_of(shape: tuple[int, ...], raw: bytes, kind: str) -> NDArray[Any]:
    """Integers as they are; of floats only the shape matters."""
    if kind:
        made: NDArray[Any] = np.frombuffer(raw, dtype=kind).reshape(shape)
        return made if kind == "bool" else made.astype(np.int64)
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def ask(question: str, inputs: Mapping[str, NDArray[Any]]) -> tuple[bytes, bytes]:
    """The formula's text and its arrays, from the process that runs references."""
    with cache.scratch() as folder:
        (folder / "run.json").write_text(question, encoding="utf-8")
        np.savez(folder / "inputs.npz", **inputs)  # type: ignore[arg-type]  # numpy's stubs know no such dict
        try:
            serving.ask(SERVER, folder)
        except serving.NoAnswerError as error:
            raise OracleError(f"the process that runs the reference: {error}") from None
        if (folder / "error.txt").is_file():
            raise OracleError((folder / "error.txt").read_text(encoding="utf-8"))
        return (folder / "formula.py").read_bytes(), (folder / "constants.npz").read_bytes()

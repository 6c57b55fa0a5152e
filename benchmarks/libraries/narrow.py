"""Functions of 8 and 4 bits: each file of tests/data/library_functions/LIBRARY/ claims one.

A first line `# each: A = x, y; B = z` makes one claim for each combination, with the words A and B replaced there and
in the op.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

HERE = Path(__file__).parents[2] / "tests" / "data" / "library_functions"
PACKAGES = {
    "numpy": "ml_dtypes", "torch": "torch", "triton": "triton", "jax": "jax", "cupy": "cupy-cuda13x",
    "torchao": "torchao", "bitsandbytes": "bitsandbytes", "liger": "liger-kernel", "flashinfer": "flashinfer-python",
}  # fmt: skip
"""The folders in their order, and the package of each."""
PREFIX = "narrow/"
OP = re.compile(r'"\.\./ops/([^"]+)"')
TENSOR_CORES = '# accumulate = "mma fp8"\n'
"""A line of a claim that holds on a GPU alone: a CPU adds products of 8-bit floats in float32."""
ON_A_CPU = '# form = "any"\n'
"""The line in its place: torch multiplies the factors by their scales before the product, others the sums."""


@dataclass(frozen=True)
class Claimed:
    """One claim of one function: its file, and what its words stand for."""

    path: Path
    words: tuple[tuple[str, str], ...]

    @property
    def library(self) -> str:
        return f"{PREFIX}{self.path.parent.name}"

    @property
    def package(self) -> str:
        return PACKAGES[self.path.parent.name]

    @property
    def modules(self) -> tuple[str, ...]:
        return ()

    @property
    def environment(self) -> Mapping[str, str]:
        return {}

    @property
    def absent(self) -> str:
        return "not installed"

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def call(self) -> str:
        return ", ".join([f"`{self.path.stem}`", *(f"{word} {value}" for word, value in self.words)])

    @property
    def key(self) -> str:
        return "-".join([self.path.stem, *(value for _, value in self.words)])

    def write(self, folder: Path, device: str) -> Path:
        """Write the file that kfuzz tries, and its op beside it, with the words replaced."""
        path = folder / self.library / f"{self.key}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self.path.read_text(encoding="utf-8")
        text = text.split("\n", 1)[1] if self.words else text
        if op := OP.search(text):
            own = path.parent / "ops" / f"{self.key}-{op[1]}"
            own.parent.mkdir(exist_ok=True)
            own.write_text(self._replaced((HERE / "ops" / op[1]).read_text(encoding="utf-8")), encoding="utf-8")
            text = text.replace(op[0], f'"{own}"')
        text = self._replaced(text)
        path.write_text(text.replace(TENSOR_CORES, ON_A_CPU) if device == "cpu" else text, encoding="utf-8")
        return path

    def _replaced(self, text: str) -> str:
        for word, value in self.words:
            text = re.sub(rf"\b{word}\b", value, text)
        return text


def claims_of(folder: str) -> Iterator[Claimed]:
    """The claims of all functions of a folder."""
    for path in sorted((HERE / folder).glob("*.py")):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        parts = [part.split("=") for part in first.removeprefix("# each:").split(";")] if "# each:" in first else []
        values = [[(word.strip(), value.strip()) for value in given.split(",")] for word, given in parts]
        yield from (Claimed(path, words) for words in product(*values))

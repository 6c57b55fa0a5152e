"""Python as the language of a kernel file: functions that a library's arrays are handed to.

A claim of a kernel or a host function describes the CUDA in a file's strings, which is then in the language CUDA.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kfuzz.claims.language import cuda, text
from kfuzz.claims.language.arguments import ClaimedArrays
from kfuzz.claims.language.callables import complete, op_of_call, read_callable
from kfuzz.claims.language.front_matter import FrontMatter, lookup
from kfuzz.claims.language.keys import WrittenCall, WrittenClaim
from kfuzz.claims.language.language import Language
from kfuzz.claims.language.launches import Launch
from kfuzz.claims.language.python_constants import constants_in
from kfuzz.claims.language.python_text import read_text
from kfuzz.claims.language.reading import ClaimNames
from kfuzz.claims.language.roles import Roles
from kfuzz.common.printable import shown_path
from kfuzz.common.text.cuda_in_python import END, builds_cuda, cuda_of
from kfuzz.devices.limits import INT_MAX
from kfuzz.devices.runners import CALLER
from kfuzz.oracle.op.op import Op

OF_CUDA = ("host", "launch")
"""Tables that claim a function of CUDA, in a file's strings."""
CODE = re.compile(r"^(?:async |def |class |import |from |@|if |try:|with |[\w.]+\s*[=(\[])", re.MULTILINE)
"""A line of a file that is not part of a comment or a docstring."""


class Python(Language):
    """Python callables."""

    name = "python"
    runner = CALLER
    mark = "#"
    mark_in_words = "#"
    whole_claim = (*OF_CUDA, "call", "arrays")
    may_leave_out = ("axes", "arrays")
    function_key = "call"
    least_argument = -INT_MAX  # such as dim = [1, -1]
    names_reference = True
    reads_other_files = True

    def how_to_claim(self, where: str) -> str:
        return f"or say what it computes: kfuzz fuzz {where} --op OP; kfuzz op lists all"

    def head(self, text: str) -> str:
        """What is above the first statement, except a docstring."""
        return CODE.split(text, maxsplit=1)[0]

    def of_text(self, source: str) -> Language:
        return cuda.LANGUAGE if source.rstrip().endswith(END) else self

    def described_by(
        self, path: Path, source: str, values: Mapping[str, object], lines: tuple[int, int] | None
    ) -> tuple[Language, str]:
        if not any(key in values for key in OF_CUDA):
            return self, source
        entry = lookup(values, ("host", "entry")) or lookup(values, ("launch", 0, "entry"))
        return cuda.LANGUAGE, cuda_of(source, shown_path(path), entry if isinstance(entry, str) else "", lines)

    def is_kernel(self, text: str) -> bool:
        """Whether it is no Python: an answer that breaks off must not be missing in the report."""
        return read_text(text).error is not None

    def facts(self, source: str) -> Iterator[tuple[int, str, str]]:
        return text.facts_of_python(source)

    def constants(self, source: str, helpers: Collection[str]) -> tuple[list[str], set[int]]:
        return constants_in(ast.parse(source), helpers)

    def builds_cuda(self, source: str) -> bool:
        return builds_cuda(source)

    def function_of(self, claim: WrittenClaim) -> WrittenCall:
        return claim.call

    def fit_op(self, front: FrontMatter, claim: WrittenClaim, op: str) -> str:
        return op_of_call(front, claim, op)

    def complete(self, front: FrontMatter, claim: WrittenClaim, roles: Roles) -> tuple[FrontMatter, WrittenClaim]:
        claim = complete(front, claim, roles)
        # an error shows a default, too
        return replace(front, values={**front.values, "arrays": dict(claim.arrays or {})}), claim

    def read_launches(
        self, front: FrontMatter, claim: WrittenClaim, names: ClaimNames, arrays: ClaimedArrays, op: Op
    ) -> tuple[Launch, ...]:
        return (read_callable(front, claim, names, arrays, op.weights),)


LANGUAGE: Language = Python()

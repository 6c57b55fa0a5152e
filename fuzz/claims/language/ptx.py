"""PTX as the language of a kernel file: what a compiler wrote from CUDA, Triton or any other language.

A parameter of 64 bits is an array where the claim passes one, else an integer; a structure is passed in words of eight
bytes, each of which may be an array.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from kfuzz.claims.language import expression
from kfuzz.claims.language.arguments import LONG, ClaimedArrays
from kfuzz.claims.language.cuda import Cuda
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim, WrittenHost, WrittenLaunch
from kfuzz.claims.language.language import Language
from kfuzz.claims.language.launches import EXAMPLE, Launch, check_taken, read_launch
from kfuzz.claims.language.reading import ClaimNames, required
from kfuzz.claims.language.signature import Parameter, Parameters
from kfuzz.common.printable import shown_path
from kfuzz.devices import ClaimError
from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.entries import launched_parameters
from kfuzz.devices.cpu.ptx.module import PtxFunction, PtxModule, read_module
from kfuzz.oracle.numbers.elements import F32, F64
from kfuzz.oracle.op.independence import unused_inputs
from kfuzz.oracle.op.op import Op

_EX2 = re.compile(r"\bex2\.approx(?:\.ftz)?\.f32\b")
_EXPONENT = re.compile(r"\bshl\.b32\s+[^;]*,\s*23\s*;")


class Ptx(Cuda):
    """PTX modules. But for their exps, their accuracy is what the claim says: the text has no functions of C++."""

    name = "ptx"
    through = "ptx"
    foreign_keys = ("call", "host")
    whole_claim = ("launch",)

    def how_to_claim(self, where: str) -> str:
        return "its [[launch]] says grid, block and args; kfuzz show --template prints one to start from"

    def is_kernel(self, text: str) -> bool:
        return False  # what a compiler left behind

    def facts(self, source: str) -> Iterator[tuple[int, str, str]]:
        """An exp is fast where it has no exponent of its own, which nvcc's expf shifts into its place."""
        found = list(_EX2.finditer(source))
        if len(found) > len(_EXPONENT.findall(source)):
            yield found[0].start(), "exp", "__expf"

    def remembers(self, source: str) -> bool:
        return any(one.space == "global" and not one.initial for one in read_module(source).variables)

    def function_of(self, claim: WrittenClaim) -> WrittenHost | None:
        return None

    def read_launches(
        self, front: FrontMatter, claim: WrittenClaim, names: ClaimNames, arrays: ClaimedArrays, op: Op
    ) -> tuple[Launch, ...]:
        try:
            module = read_module(front.source)
        except AsmError as error:
            raise ClaimError(f"{shown_path(front.path)}:{error.line}: {error}, which is not read") from None
        unused = unused_inputs(op)
        written = required(front, ("launch",), claim.launch, EXAMPLE)
        launches = tuple(_read(front, index, one, names, arrays, module) for index, one in enumerate(written))
        check_taken(
            front, {name: one for name, one in arrays.items() if one.writes or one.reads not in unused}, launches
        )
        return launches


def _read(
    front: FrontMatter, index: int, claim: WrittenLaunch, names: ClaimNames, arrays: ClaimedArrays, module: PtxModule
) -> Launch:
    """A launch, with the block and the cluster for which the kernel was compiled if the claim leaves them out."""
    functions = {one.name: _parameters_of(one, claim, arrays) for one in module.entries}
    entry = module.function(claim.entry or (module.entries[0].name if module.entries else ""))
    limits = entry.limits if entry else None
    if limits and limits.exact_block and claim.block is None:
        claim = replace(claim, block=", ".join(map(str, limits.exact_block)))
    launch = read_launch(front, ("launch", index), claim, names, arrays, functions)
    if limits and limits.cluster and not launch.cluster:
        launch = replace(launch, cluster=tuple(expression.number(str(side), ()) for side in limits.cluster))
    return launch


def _parameters_of(function: PtxFunction, claim: WrittenLaunch, arrays: ClaimedArrays) -> Parameters:
    """The parameters of a kernel, of which those that take arrays are pointers."""
    words = launched_parameters(function)
    given = claim.args if claim.args is not None and len(claim.args) == len(words) else [name for name, _ in words]
    return tuple(_parameter(name, kind, text in arrays) for (name, kind), text in zip(words, given, strict=True))


def _parameter(name: str, kind: str, is_array: bool) -> Parameter:
    is_wide = kind.endswith("64")
    if is_array and is_wide and kind != F64.name:
        return Parameter(f".{kind} {name}", True, None)
    return Parameter(f".{kind} {name}", False, LONG if is_wide else 4, kind in (F32.name, F64.name))


LANGUAGE: Language = Ptx()

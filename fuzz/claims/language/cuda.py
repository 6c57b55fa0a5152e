"""CUDA as the language of a kernel file: kernels that kfuzz launches, and host functions that launch them."""

from collections.abc import Iterator

from kfuzz.claims.language import text
from kfuzz.claims.language.arguments import ClaimedArrays
from kfuzz.claims.language.front_matter import FrontMatter
from kfuzz.claims.language.keys import WrittenClaim, WrittenHost
from kfuzz.claims.language.language import Language
from kfuzz.claims.language.launches import Launch, read_launches
from kfuzz.claims.language.reading import ClaimNames
from kfuzz.common.text.remembering import has_lasting_variables
from kfuzz.oracle.op.independence import unused_inputs
from kfuzz.oracle.op.op import Op


class Cuda(Language):
    """CUDA C++."""

    name = "cuda"
    mark = "//"
    mark_in_words = "slashes, not in /* */"
    foreign_keys: tuple[str, ...] = ("call",)
    whole_claim: tuple[str, ...] = ("host", "launch")
    function_key = "host"

    def how_to_claim(self, where: str) -> str:
        return f"kfuzz claim {where} finds one, kfuzz show --template prints one to start from"

    def facts(self, source: str) -> Iterator[tuple[int, str, str]]:
        return text.facts(source)

    def remembers(self, source: str) -> bool:
        return has_lasting_variables(source)

    def function_of(self, claim: WrittenClaim) -> WrittenHost | None:
        return claim.host

    def read_launches(
        self, front: FrontMatter, claim: WrittenClaim, names: ClaimNames, arrays: ClaimedArrays, op: Op
    ) -> tuple[Launch, ...]:
        return read_launches(front, claim, names, arrays, unused_inputs(op))


class ThroughNvcc(Cuda):
    """CUDA of which the PTX is meant that nvcc makes of it."""

    through = "nvcc"


LANGUAGE: Language = Cuda()
THROUGH: dict[str, Language] = {"nvcc": ThroughNvcc()}
"""The same text through a compiler, by the compiler's name."""

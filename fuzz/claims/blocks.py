"""Whether the blocks of a kernel are independent, so that a few of them alone do the same as in a whole grid.

Knows claims and the text of kernels; never how a block is run.
"""

import re
from functools import lru_cache

from kfuzz.claims.kernel import Kernel
from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.common.text.headers import sources
from kfuzz.devices import is_host

TOGETHER = re.compile(
    r"\batomic\w+\s*\(|\b__threadfence\w*|\bvolatile\b|\b__ldc[vg]\b|\bgrid_group\b|\bthis_grid\b|<<<|"
    r"^\s*(?:static\s+|extern\s+)*__(?:device__|managed__)\b[^(){}]*[;=\[{]",
    re.MULTILINE,
)
"""Words that occur in kernels whose blocks wait for each other or pass data to each other."""


def is_by_block(kernel: Kernel) -> bool:
    """Whether blocks are independent: no scratch, and nothing in the text that connects them."""
    arrays = kernel.arrays.values()
    if any(not (array.reads or array.writes) or (array.fill and array.fill.bits) for array in arrays):
        return False
    texts = [one.text for one in sources(kernel.path, kernel.source, kernel.flags)]
    lo, hi = kernel.value_range or (0.0, 1.0)
    is_joined = any(map(is_host, kernel.entries)) or any(map(_has_word, texts))
    return lo <= 0.0 and hi >= 1.0 and not is_joined


@lru_cache(maxsize=256)
def _has_word(text: str) -> bool:
    """Whether one of these words is in the code; each large trial asks it of the same texts."""
    return bool(TOGETHER.search(blank_non_code(text)))

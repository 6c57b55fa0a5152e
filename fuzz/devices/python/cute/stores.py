"""Stores by tensor maps (TMA) in the PTX of CuTe DSL, which asks for one in each lane of a warp and means one.

The DSL elects a lane for a load and none for a store, in `if warp_idx == 0: cute.copy(atom, ...)` of NVIDIA's own
examples, too: 32 lanes would write the same bytes, and each copy would be in flight when the next one is asked for.
"""

import re

STORE = re.compile(r"^\s*cp\.async\.bulk\.tensor\.\S*global\.shared::cta\S*[^;]*;", re.MULTILINE)
ONCE = """{{
.reg .pred %kfuzz_is_elected;
.reg .b32 %kfuzz_lanes, %kfuzz_elected;
activemask.b32 %kfuzz_lanes;
elect.sync %kfuzz_elected|%kfuzz_is_elected, %kfuzz_lanes;
@%kfuzz_is_elected {store}
}}"""


def elect_for_stores(text: str) -> str:
    """The module with one store for the lanes of a warp that ask for it together."""
    return STORE.sub(lambda found: ONCE.format(store=found[0].strip()), text)

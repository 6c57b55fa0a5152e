"""Which header of torch declares what a compiler does not know.

torch/extension.h has neither torch's checks of CUDA calls nor its streams and guards, and a compiler names no header.
"""

import re

DECLARED_IN = {
    r"C10_CUDA_\w+": "c10/cuda/CUDAException.h",
    r"AT_CUDA_CHECK": "ATen/cuda/Exceptions.h",
    r"get(?:Current|Default)CUDAStream|getStreamFrom\w+|CUDAStream": "c10/cuda/CUDAStream.h",
    r"(?:Optional)?CUDA(?:Stream|MultiStream)?Guard": "c10/cuda/CUDAGuard.h",
    r"CUDAEvent": "ATen/cuda/CUDAEvent.h",
    r"getCurrentDeviceProperties|getDeviceProperties": "ATen/cuda/CUDAContext.h",
}
UNKNOWN = re.compile(
    r"'(\w+)'(?: in namespace '[\w:]+')? "
    r"(?:(?:was not|has not been) declared|does not name a type|is not a member of)"
    r'|identifier "(\w+)" is undefined|has no member "(\w+)"'
)


def suggest_header(complaint: str) -> str:
    """What to include, as the end of a compiler's sentence about a name of torch; empty for all others."""
    if not (unknown := UNKNOWN.search(complaint)):
        return ""
    name = next(filter(None, unknown.groups()))
    header = next((header for names, header in DECLARED_IN.items() if re.fullmatch(names, name)), None)
    return f": include <{header}>, which torch/extension.h does not" if header else ""

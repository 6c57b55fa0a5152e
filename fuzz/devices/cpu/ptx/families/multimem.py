"""Accesses of multicast objects, the memory of several GPUs at one address.

No address of the cpu device, which is one GPU, belongs to such an object, and cuMulticastCreate is refused. PTX leaves
open what these instructions do at another address, so each that runs is an error.
"""

import re

from kfuzz.devices.cpu.ptx.families.memory import point

_FLOATS = r"f16|f16x2|bf16|bf16x2|e4m3(?:x[24])?|e5m2(?:x[24])?"
_TYPES = {
    "add": rf"[us]32|[us]64|f32|f64|{_FLOATS}", "min": rf"[us]32|[us]64|{_FLOATS}", "max": rf"[us]32|[us]64|{_FLOATS}",
    "and": r"b32|b64", "or": r"b32|b64", "xor": r"b32|b64", "st": rf"[bus]32|[bus]64|f32|f64|{_FLOATS}",
}  # fmt: skip


def _access(match: re.Match[str]) -> str | None:
    what, kind = match["what"], match["type"]
    if not re.fullmatch(_TYPES[match["op"] or "st"], kind) or (what == "st") != (match["op"] is None):
        return None
    if (match["wide"] and what != "ld_reduce") or (match["order"] in (None, "weak")) != (match["scope"] is None):
        return None
    space = match["space"] or "global"
    address = point(space, 1 if what == "ld_reduce" else 0)
    return f"cuda_on_cpu_not_multicast({address}, __LINE__); static_cast<void>(({{all}}))"


ROWS = (
    (
        r"multimem\.(?P<what>ld_reduce|st|red)(?:\.(?P<order>weak|relaxed|acquire|release))?"
        r"(?:\.(?P<scope>cta|cluster|gpu|sys))?(?:\.(?P<space>global))?(?:\.(?P<op>add|min|max|and|or|xor))?"
        r"(?P<wide>\.acc::(?:f32|f16))?(?P<vector>\.v[248])?\.(?P<type>\w+)",
        _access,
    ),
)

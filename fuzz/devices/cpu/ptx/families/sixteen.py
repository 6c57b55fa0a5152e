"""Arithmetic of float16 and bfloat16, one or two in a register."""

import re

from kfuzz.devices.cpu.ptx.words import C

_FTZ = r"(?P<ftz>\.ftz)?"
_F16, _BF16 = r"(?P<type>f16)(?P<two>x2)?", r"(?P<type>bf16)(?P<two>x2)?"
_DIGITS = {"f16": 11, "bf16": 8}


def _write(match: re.Match[str], operation: str, count: int) -> str:
    finish = (match.groupdict().get("finish") or ".plain")[1:]
    numbers = 2 if match["two"] else 1
    given = ", ".join(f"{{{place}}}" for place in range(1, count + 1))
    ftz = str(bool(match["ftz"])).lower()
    return (
        f"{C}ptx_on_sixteens<{_DIGITS[match['type']]}, {numbers}, {C}{operation}, {C}ptx_finish_{finish}, {ftz}>"
        f"({{0}}, {given})"
    )


def _arithmetic(match: re.Match[str]) -> str:
    return _write(match, f"PtxSixteen_{match['what']}", {"fma": 3, "ex2": 1, "tanh": 1}.get(match["what"], 2))


def _chosen(match: re.Match[str]) -> str:
    flags = (match["what"] == "max", bool(match["nan"]), bool(match["sizes"]))
    return _write(match, f"PtxSixteenChosen<{', '.join(str(one).lower() for one in flags)}>", 2)


def _sign(match: re.Match[str]) -> str:
    numbers, ftz = 2 if match["two"] else 1, str(bool(match["ftz"])).lower()
    keeps = str(match["what"] == "neg").lower()
    return f"{C}ptx_sign_of_sixteens<{_DIGITS[match['type']]}, {numbers}, {ftz}, {keeps}, {keeps}>({{0}}, {{1}})"


ROWS = (
    (rf"(?P<what>add|sub|mul)(?:\.rn)?{_FTZ}(?P<finish>\.sat)?\.{_F16}", _arithmetic),
    (rf"(?P<what>add|sub|mul)(?:\.rn)?(?P<ftz>)\.{_BF16}", _arithmetic),
    (rf"(?P<what>fma)\.rn{_FTZ}(?P<finish>\.sat|\.relu)?\.{_F16}", _arithmetic),
    (rf"(?P<what>fma)\.rn(?P<ftz>)(?P<finish>\.relu)?\.{_BF16}", _arithmetic),
    (rf"(?P<what>fma)\.rn(?P<ftz>)\.{_F16}(?P<finish>\.relu)", _arithmetic),  # as CUTLASS writes it
    (rf"(?P<what>ex2|tanh)\.approx(?P<ftz>)\.{_F16}", _arithmetic),
    (rf"(?P<what>ex2)\.approx(?P<ftz>\.ftz)\.{_BF16}", _arithmetic),
    (rf"(?P<what>tanh)\.approx(?P<ftz>)\.{_BF16}", _arithmetic),
    (rf"(?P<what>max|min){_FTZ}(?P<nan>\.NaN)?(?P<sizes>\.xorsign\.abs)?\.{_F16}", _chosen),
    (rf"(?P<what>max|min)(?P<ftz>)(?P<nan>\.NaN)?(?P<sizes>\.xorsign\.abs)?\.{_BF16}", _chosen),
    (rf"(?P<what>abs|neg){_FTZ}\.{_F16}", _sign),
    (rf"(?P<what>abs|neg)(?P<ftz>)\.{_BF16}", _sign),
)

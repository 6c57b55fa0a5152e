"""Arithmetic of float32 and float64, two float32 in a register included."""

import re

from kfuzz.devices.cpu.ptx.words import TYPES, C

_ROUND = r"(?:\.(?P<round>r[nzmp]))?"
_MUST_ROUND = r"\.(?P<round>r[nzmp])"
_FTZ, _SAT = r"(?P<ftz>\.ftz)?", r"(?P<sat>\.sat)?"
_MODES = {"rz": "rz", "rm": "rd", "rp": "ru"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _finish(expression: str, ftz: bool, sat: bool) -> str:
    return f"{C}ptx_put({{0}}, {C}ptx_out<{str(ftz).lower()}, {str(sat).lower()}>({expression}))"


def _take(kind: str, place: int, ftz: bool) -> str:
    return f"{C}ptx_in<{TYPES[kind]}, {str(ftz).lower()}>({{{place}}})"


def operation(what: str, kind: str, mode: str | None, words: list[str]) -> str:
    """The C++ for a rounded operation on words: an operator of the compiler's, or CUDA's function of that rounding."""
    rounded = _MODES.get(mode or "rn")
    if what == "fma":
        name = {"f32": "__fmaf", "f64": "__fma"}[kind]
        plain = {"f32": "fmaf", "f64": "fma"}[kind]
        return f"{name}_{rounded}({', '.join(words)})" if rounded else f"{plain}({', '.join(words)})"
    prefix = {"f32": "__f", "f64": "__d"}[kind]
    if what in ("rcp", "sqrt"):
        if rounded:
            return f"{prefix}{what}_{rounded}({words[0]})"
        root = {"f32": "sqrtf", "f64": "sqrt"}[kind]
        return f"{root}({words[0]})" if what == "sqrt" else f"{TYPES[kind]}(1) / {words[0]}"
    return f"{prefix}{what}_{rounded}({', '.join(words)})" if rounded else f"{words[0]} {_SIGNS[what]} {words[1]}"


def _rounded(match: re.Match[str]) -> str:
    ftz, sat = bool(match["ftz"]), bool(match["sat"])
    count = {"fma": 3, "mad": 3, "rcp": 1, "sqrt": 1}.get(match["what"], 2)
    what = {"mad": "fma"}.get(match["what"], match["what"])
    words = [_take(match["type"], place, ftz) for place in range(1, count + 1)]
    return _finish(operation(what, match["type"], match["round"], words), ftz, sat)


def _pairs(match: re.Match[str]) -> str:
    names = ["a", "b", "c"][: 3 if match["what"] == "fma" else 2]
    ftz = str(bool(match["ftz"])).lower()
    words = [f"{C}ptx_in<float, {ftz}>({name})" for name in names]
    made = f"{C}ptx_out<{ftz}, false>({operation(match['what'], 'f32', match['round'], words)})"
    takes = ", ".join(f"float {name}" for name in names)
    given = ", ".join(f"{{{place}}}" for place in range(1, len(names) + 1))
    return f"{C}ptx_on_both_floats([]({takes}) CUDA_ON_CPU_UNCHECKED -> float {{ return {made}; }}, {{0}}, {given})"


_APPROXIMATIONS = {
    "ex2": "exp2f(<a>)", "lg2": "log2f(<a>)", "rsqrt": "rsqrtf(<a>)", "sqrt": "sqrtf(<a>)",
    "rcp": f"{C}ptx_rough_quotient(float(1), <a>)", "sin": "sinf(<a>)", "cos": "cosf(<a>)", "tanh": "tanhf(<a>)",
}  # fmt: skip
"""As the fast functions of math_functions.h compute them."""


def _approximate(match: re.Match[str]) -> str:
    ftz = bool(match["ftz"])
    return _finish(_APPROXIMATIONS[match["what"]].replace("<a>", _take("f32", 1, ftz)), ftz, False)


def _quotient(match: re.Match[str]) -> str:
    ftz = bool(match["ftz"])
    a, b = _take("f32", 1, ftz), _take("f32", 2, ftz)
    return _finish(f"{C}{'fast_divide' if match['how'] == 'approx' else 'ptx_rough_quotient'}({a}, {b})", ftz, False)


def _chosen(match: re.Match[str]) -> str:
    ftz = bool(match["ftz"])
    first, *rest = [_take(match["type"], place, ftz) for place in range(1, 4 if match["third"] else 3)]
    name = {"max": "larger", "min": "smaller"}[match["what"]]
    flags = f"{str(bool(match['nan'])).lower()}, {str(bool(match['sizes'])).lower()}"
    if flags == "false, false":
        name, flags = {"max": "max_number", "min": "min_number"}[match["what"]], TYPES[match["type"]]
    else:
        name = f"ptx_{name}"
    for one in rest:
        first = f"{C}{name}<{flags}>({first}, {one})"
    return _finish(first, ftz, False)


def _plain_choice(match: re.Match[str]) -> str:
    """As fmaxf, which the count flavour knows."""
    return f"{C}ptx_put({{0}}, f{match['what']}f(({_take('f32', 1, False)}), ({_take('f32', 2, False)})))"


def _sign(match: re.Match[str]) -> str:
    ftz = bool(match["ftz"])
    name = {"f32": "fabsf", "f64": "fabs"}[match["type"]]
    taken = _take(match["type"], 1, ftz)
    return _finish(f"{name}({taken})" if match["what"] == "abs" else f"-{taken}", ftz, False)


def _mixed(match: re.Match[str]) -> str:
    """A 16-bit float widened, and then float32's operation."""
    wide = f"{C}ptx_widened<{C}ptx_{match['narrow']}>"
    last = _take("f32", 3 if match["what"] == "fma" else 2, False)
    words = [f"{wide}({{{place}}})" for place in range(1, 3 if match["what"] == "fma" else 2)]
    return _finish(operation(match["what"], "f32", match["round"], [*words, last]), False, bool(match["sat"]))


COUNTS = True
ROWS = (
    (rf"(?P<what>add|sub|mul){_ROUND}{_FTZ}{_SAT}\.(?P<type>f32)", _rounded),
    (rf"(?P<what>fma){_MUST_ROUND}{_FTZ}{_SAT}\.(?P<type>f32)", _rounded),
    (rf"(?P<what>mad){_MUST_ROUND}{_FTZ}{_SAT}\.(?P<type>f32)", _rounded),
    (rf"(?P<what>add|sub|mul){_ROUND}(?P<ftz>)(?P<sat>)\.(?P<type>f64)", _rounded),
    (rf"(?P<what>fma|mad){_MUST_ROUND}(?P<ftz>)(?P<sat>)\.(?P<type>f64)", _rounded),
    (rf"(?P<what>div|rcp|sqrt){_MUST_ROUND}{_FTZ}(?P<sat>)\.(?P<type>f32)", _rounded),
    (rf"(?P<what>div|rcp|sqrt){_MUST_ROUND}(?P<ftz>)(?P<sat>)\.(?P<type>f64)", _rounded),
    (rf"(?P<what>add|sub){_ROUND}{_SAT}\.f32\.(?P<narrow>b?f16)", _mixed),
    (rf"(?P<what>fma){_MUST_ROUND}{_SAT}\.f32\.(?P<narrow>b?f16)", _mixed),
    (rf"(?P<what>add|sub|mul|fma){_MUST_ROUND}{_FTZ}\.f32x2", _pairs),
    (rf"(?P<what>add|sub|mul)(?P<round>){_FTZ}\.f32x2", _pairs),
    (rf"(?P<what>ex2|lg2|rcp|rsqrt|sqrt|sin|cos)\.approx{_FTZ}\.f32", _approximate),
    (r"(?P<what>tanh)\.approx(?P<ftz>)\.f32", _approximate),
    (r"(rcp|rsqrt)\.approx\.ftz\.f64", f"{C}ptx_put({{0}}, {C}ptx_<1>_upper({C}ptx_as<double>({{1}})))"),
    (r"rsqrt\.approx\.f64", f"{C}ptx_put({{0}}, rsqrt({C}ptx_as<double>({{1}})))"),
    (rf"div\.(?P<how>approx|full){_FTZ}\.f32", _quotient),
    (r"(?P<what>max|min)\.f32", _plain_choice),
    (rf"(?P<what>max|min){_FTZ}(?P<nan>\.NaN)?(?P<sizes>\.xorsign\.abs)?(?P<third>\.)(?P<type>f32)", _chosen),
    (rf"(?P<what>max|min){_FTZ}(?P<nan>\.NaN)?(?P<sizes>\.xorsign\.abs)?(?P<third>)\.(?P<type>f32)", _chosen),
    (r"(?P<what>max|min)(?P<ftz>)(?P<nan>)(?P<sizes>)(?P<third>)\.(?P<type>f64)", _chosen),
    (rf"(?P<what>abs|neg){_FTZ}\.(?P<type>f32)", _sign),
    (r"(?P<what>abs|neg)(?P<ftz>)\.(?P<type>f64)", _sign),
    (r"copysign\.(f32|f64)", f"{C}ptx_copysign<{C}ptx_<1>>({{0}}, {{1}}, {{2}})"),
    (
        r"testp\.(finite|infinite|notanumber|normal|subnormal)\.(f32|f64)",
        f"{C}ptx_put({{0}}, {C}ptx_is_<1>({C}ptx_as<{C}ptx_<2>>({{1}})))",
    ),
    (r"testp\.(number)\.(f32|f64)", f"{C}ptx_put({{0}}, !{C}ptx_is_notanumber({C}ptx_as<{C}ptx_<2>>({{1}})))"),
)

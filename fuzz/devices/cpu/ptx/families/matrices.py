"""Tensor cores: mma.sync, and the loads, stores and moves of matrices."""

import re

from kfuzz.devices.cpu.ptx.words import C

_SHAPES = {
    ("ld", "m8n8", "b16", False): ("124", "ldmatrix<{count}, false>"),
    ("ld", "m8n8", "b16", True): ("124", "ldmatrix<{count}, true>"),
    ("ld", "m8n16", "b8x16.b6x16_p32", False): ("124", "ldmatrix_bytes<{count}, 8, 6>"),
    ("ld", "m8n16", "b8x16.b4x16_p64", False): ("124", "ldmatrix_bytes<{count}, 8, 4>"),
    ("ld", "m16n16", "b8", True): ("12", "ldmatrix_bytes<{count}, 16, 8>"),
    ("ld", "m16n16", "b8x16.b6x16_p32", True): ("12", "ldmatrix_bytes<{count}, 16, 6>"),
    ("ld", "m16n16", "b8x16.b4x16_p64", True): ("12", "ldmatrix_bytes<{count}, 16, 4>"),
    ("st", "m8n8", "b16", False): ("124", "stmatrix<{count}, false>"),
    ("st", "m8n8", "b16", True): ("124", "stmatrix<{count}, true>"),
    ("st", "m16n8", "b8", True): ("124", "stmatrix_bytes< {count}>"),
}
"""By shape, element type and whether matrices are transposed: how many there may be, and the C++ function."""


def _matrix(match: re.Match[str]) -> str | None:
    """A load or a store of matrices; people write the words after .aligned in any order."""
    words = match["words"].split(".")
    shape = [one for one in words if re.fullmatch(r"m\d+n\d+", one)]
    count = [one for one in words if re.fullmatch(r"x[124]", one)]
    kind = [one for one in words if re.fullmatch(r"b(?:16|8|8x16|6x16_p32|4x16_p64)", one)]
    space = [one for one in words if one in ("shared", "shared::cta")]
    rest = [one for one in words if one not in (*shape, *count, *kind, *space)]
    if any(len(one) != 1 for one in (shape, count, space)) or rest not in ([], ["trans"]):
        return None
    given = _SHAPES.get((match["what"], shape[0], ".".join(kind), bool(rest)))
    if given is None or count[0][1:] not in given[0]:
        return None
    operands = "{a1}, {v0}" if match["what"] == "ld" else "{a0}, {v1}"
    return f"{C}ptx_{given[1].format(count=count[0][1:])}(__LINE__, {operands})"


_DEPTHS_OF_FLOATS = {"f16": (8, 16), "bf16": (8, 16), "tf32": (4, 8), "e4m3": (16, 32), "e5m2": (16, 32)}


def _product(match: re.Match[str]) -> str | None:
    """m16n8, of floats; only those of 8 bits may differ, and only f16 and they have sums in f16."""
    a, b = match["a"], match["b"]
    if int(match["k"]) not in _DEPTHS_OF_FLOATS[a] or (a != b and "f" in a + b) or (match["kind"] and "f" in a):
        return None
    if match["d"] == "f16" and a in ("bf16", "tf32"):
        return None
    kinds = ", ".join(f"{C}ptx_{letter}_{match[name]}" for letter, name in (("c", "d"), ("m", "a"), ("m", "b")))
    return f"{C}ptx_mma<{kinds}, {match['k']}>(__LINE__, {{all}})"


_DEPTHS = {(8, 8): (16,), (8, 16): (16, 32), (4, 8): (32,), (4, 16): (32, 64), (1, 8): (128,), (1, 16): (128, 256)}
"""How deep the products of integers are, by their bits and the rows."""


def _integers(match: re.Match[str]) -> str | None:
    """Integers of 8, 4 and 1 bits; those of 1 bit are combined by .and or .xor, and counted, .popc."""
    rows, k, bits = int(match["rows"]), int(match["k"]), int(match["a"][1])
    letters = match["a"][0] + match["b"][0]
    last = match["last"] or ""
    if match["b"][1] != match["a"][1] or k not in _DEPTHS[bits, rows] or (match["sat"] and last):
        return None
    if (bits == 1) != (letters == "bb") or (bits == 1) != last.endswith(".popc") or (bits == 1 and match["sat"]):
        return None
    if bits != 1 and "b" in letters:
        return None
    flags = ", ".join(
        str(one).lower() for one in (letters[0] == "s", letters[1] == "s", bool(match["sat"] or last) and bits > 1)
    )
    kind = f", {C}PtxXorBit" if last == ".xor.popc" else ""
    return f"{C}ptx_mma_integers<{rows}, {k}, {bits}, {flags}{kind}>(__LINE__, {{all}})"


_SMALL = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
_WORDS = {
    "shape": r"m16n8k(?:16|32|64|128)",
    "kind": r"kind::(?:f8f6f4|mxf8f6f4|mxf4|mxf4nvf4)",
    "sparse": r"sp(?:::ordered_metadata)?",
    "blocks": r"block_scale",
    "scales": r"scale_vec::[124]X",
    "sat": r"satfinite",
}
"""The words of a product that people write in any order, each at most once; the types come in one order."""
_SPARSE_DEPTHS = {"f16": 32, "bf16": 32, "tf32": 16, "8": 64, "4": 128}
"""The shapes whose metadata CuTe's layouts show; those of half the depth have no row."""
_SCALES = {("mxf8f6f4", "ue8m0", 1), ("mxf4", "ue8m0", 2), ("mxf4nvf4", "ue8m0", 2), ("mxf4nvf4", "ue8m0", 4),
           ("mxf4nvf4", "ue4m3", 4)}  # fmt: skip
"""Kinds of products of scaled blocks, the type of the scales, and how many a row has."""


def _words_of(text: str) -> tuple[dict[str, str], list[str]] | None:
    """The words of a product by their meaning, and its types; None if a word is unknown or comes twice."""
    found: dict[str, str] = {}
    types = list[str]()
    words = text.split(".")
    if words.count("row") != 1 or words.count("col") != 1:
        return None
    for word in words:
        meaning = next((one for one, pattern in _WORDS.items() if re.fullmatch(pattern, word)), None)
        if meaning in found:
            return None
        if meaning:
            found[meaning] = word
        elif word not in ("row", "col"):
            types.append(word)
    return found, types


def _scaled(words: dict[str, str], types: list[str], kind: str) -> tuple[int, str] | None:
    """How many scales a row has, and their type; 0 for none."""
    if "blocks" not in words:
        return (0, "") if len(types) == 4 and "scales" not in words and not kind.startswith("mx") else None
    if len(types) != 5:
        return None
    count = int(words["scales"][-2]) if "scales" in words else {"mxf8f6f4": 1, "mxf4": 2}.get(kind, 0)
    return (count, types[4]) if (kind, types[4], count) in _SCALES else None


def _by_words(match: re.Match[str]) -> str | None:
    """Products of floats of 6 and 4 bits, of scaled blocks, and sparse ones."""
    read = _words_of(f"{match['sp'] or ''}{match['words']}".strip("."))
    if read is None or "shape" not in read[0] or len(read[1]) < 4:
        return None
    words, types = read
    d, a, b, c = types[:4]
    kind, is_sparse = words.get("kind", "kind::").removeprefix("kind::"), "sparse" in words
    scaled = _scaled(words, types, kind)
    packs = kind.startswith("mxf4")
    bits = "4" if packs or a in ("s4", "u4") else "8" if a in (*_SMALL, "s8", "u8") else a
    k = int(words["shape"].partition("k")[2])
    if scaled is None or d != c or _SPARSE_DEPTHS.get(bits) != (k if is_sparse else 2 * k):
        return None
    if a in _SMALL:
        fits = b in _SMALL and d in ("f32", "f16") and (kind or {a, b} <= {"e4m3", "e5m2"}) and (is_sparse or kind)
        fits = fits and (not packs or a == b == "e2m1") and (not scaled[0] or d == "f32") and "sat" not in words
    elif d == "s32":
        fits = is_sparse and not kind and b[0] in "su" and a[1:] == b[1:]
    else:
        fits = (
            is_sparse
            and not kind
            and a == b
            and d in (("f32", "f16") if a == "f16" else ("f32",))
            and "sat" not in words
        )
    if not fits:
        return None
    sums = "int" if d == "s32" else f"{C}ptx_c_{d}"
    factors = ", ".join(f"{C}ptx_w_{'packed_' if packs else ''}{one}" for one in (a, b))
    flags = f"{k}, {str(is_sparse).lower()}, {scaled[0]}, {C}ptx_scale_{scaled[1]}, {str('sat' in words).lower()}"
    return f"{C}ptx_mma_words<{factors}, {sums}, {flags}>(__LINE__, {{all}})"


def _eights(match: re.Match[str]) -> str:
    orders = f"{str(match['a'] == 'col').lower()}, {str(match['b'] == 'col').lower()}"
    return f"{C}ptx_mma_eights<{C}ptx_c_{match['d']}, {orders}>(__LINE__, {{all}})"


_FACTORS = "f16|bf16|tf32|e4m3|e5m2"
ROWS = (
    (r"(?P<what>ld|st)matrix\.sync\.aligned\.(?P<words>[\w.:]+)", _matrix),
    (r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16", f"{C}ptx_movmatrix(__LINE__, {{0}}, {{1}})"),
    (
        r"mma\.sync\.aligned(?P<kind>\.kind::f8f6f4)?\.m16n8k(?P<k>\d+)\.row\.col"
        rf"\.(?P<d>f32|f16)\.(?P<a>{_FACTORS})\.(?P<b>{_FACTORS})\.(?P=d)",
        _product,
    ),
    (
        r"mma\.sync\.aligned\.m(?P<rows>8|16)n8k(?P<k>\d+)\.row\.col(?P<sat>\.satfinite)?"
        r"\.s32\.(?P<a>[usb][148])\.(?P<b>[usb][148])\.s32(?P<last>\.satfinite|\.(?:and|xor)\.popc)?",
        _integers,
    ),
    (r"mma(?P<sp>\.sp(?:::ordered_metadata)?)?\.sync\.aligned(?P<words>[\w.:]+)", _by_words),
    (r"mma\.sync\.aligned\.m8n8k4\.(?P<a>row|col)\.(?P<b>row|col)\.(?P<d>f16|f32)\.f16\.f16\.(?P=d)", _eights),
    (
        r"mma\.sync\.aligned\.m(8n8k4|16n8k(?:4|8|16))\.row\.col\.f64\.f64\.f64\.f64(?:\.rn)?",
        lambda match: (
            f"{C}ptx_mma_doubles<{match[1].partition('n')[0]}, {match[1].partition('k')[2]}>(__LINE__, {{all}})"
        ),
    ),
)

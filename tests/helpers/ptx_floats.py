"""What PTX's floats and conversions mean, by fractions: every rounding mode, .ftz, .sat, minimum and maximum."""

from collections.abc import Callable, Iterator

import exact_floats as exact
from exact_floats import FORMATS, Bits, Format, Number, decode
from ptx_random_rounding import random_conversions
from ptx_rows import Checked

MODES = ("rn", "rz", "rm", "rp")
OPERAND = {"f32": "f:f32", "f64": "d:f64", "f16": "h:f16", "bf16": "h:bf16", "f16x2": "r:f16x2", "bf16x2": "r:bf16x2"}
INTEGERS = [(f"{sign}{bits}", bits, sign == "s") for bits in (16, 32, 64) for sign in "us"]
LETTERS = {8: "h", 16: "h", 32: "r", 64: "l"}


def operate(what: str, words: list[int], form: Format, mode: str = "rn") -> Bits:
    """One operation on the bits of a format."""
    numbers = [decode(one, form) for one in words]
    match what, numbers:
        case "add", [a, b]:
            return exact.add(a, b, form, mode)
        case "sub", [a, b]:
            return exact.add(a, exact.negated(b), form, mode)
        case "mul", [a, b]:
            return exact.to_bits(exact.product(a, b), form, mode)
        case "fma", [a, b, c]:
            return exact.add(exact.product(a, b), c, form, mode)
        case "div", [a, b]:
            return exact.divide(a, b, form, mode)
        case "rcp", [a]:
            return exact.divide(Number(False, exact.Fraction(1)), a, form, mode)
        case "sqrt", [a]:
            return exact.root(a, form, mode)
    raise AssertionError(what)


def of(what: str, form: Format, mode: str = "rn", ftz: bool = False, sat: bool = False) -> Callable[..., Bits]:
    """The meaning of an instruction on floats."""

    def meaning(*words: int) -> Bits:
        made = operate(what, [exact.flushed(one, form) if ftz else one for one in words], form, mode)
        if sat:
            return exact.clamped(made, form)
        return made if made is None or not ftz else exact.flushed(made, form)

    return meaning


def places(count: int) -> str:
    return ", ".join(f"%{i}" for i in range(count + 1))


COUNTS = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "rcp": 1, "sqrt": 1}


def arithmetic() -> Iterator[Checked]:
    for what, count in COUNTS.items():
        for mode in MODES:
            for kind in ("f32", "f64"):
                for ftz, sat in ((False, False), (True, False), (False, True), (True, True)):
                    if (kind == "f64" and (ftz or sat)) or (sat and what in ("div", "rcp", "sqrt")):
                        continue
                    words = f".{mode}{'.ftz' if ftz else ''}{'.sat' if sat else ''}"
                    operand = OPERAND[kind]
                    text = f"{what}{words}.{kind} {places(count)};"
                    meaning = of(what, FORMATS[kind], mode, ftz, sat)
                    yield Checked(text, (operand,) * count, operand[0], meaning, kind)
    for what in ("add", "sub", "mul"):
        yield Checked(f"{what}.f32 %0, %1, %2;", ("f:f32",) * 2, "f", of(what, exact.F32), "f32")
        yield Checked(f"{what}.f64 %0, %1, %2;", ("d:f64",) * 2, "d", of(what, exact.F64), "f64")


def halves(word: int, count: int) -> list[int]:
    size = 16
    return [word >> size * i & 0xFFFF for i in range(count)]


def sixteens(meaning: Callable[..., Bits], count: int) -> Callable[..., tuple[Bits, ...]]:
    """A meaning on each of the numbers in registers."""
    return lambda *words: tuple(meaning(*one) for one in zip(*(halves(word, count) for word in words), strict=True))


def sixteen_bits() -> Iterator[Checked]:
    def row(text: str, count: int, kind: str, meaning: Callable[..., Bits]) -> Checked:
        operand = OPERAND[kind]
        plain = kind.removesuffix("x2")
        return Checked(text, (operand,) * count, operand[0], sixteens(meaning, 1 + kind.endswith("x2")), plain)

    for kind in ("f16", "f16x2", "bf16", "bf16x2"):
        form = FORMATS[kind.removesuffix("x2")]
        for what in ("add", "sub", "mul", "fma"):
            count = COUNTS[what]
            rn = ".rn"
            yield row(f"{what}{rn}.{kind} {places(count)};", count, kind, of(what, form))
            if kind.startswith("f16"):
                yield row(f"{what}{rn}.ftz.{kind} {places(count)};", count, kind, of(what, form, ftz=True))
                yield row(f"{what}{rn}.sat.{kind} {places(count)};", count, kind, of(what, form, sat=True))
        yield row(
            f"fma.rn.relu.{kind} {places(3)};", 3, kind, lambda a, b, c, form=form: relu(of("fma", form)(a, b, c), form)
        )
        for name, choose in (("max", exact.larger), ("min", exact.smaller)):
            for words, keeps, sizes in (
                ("", False, False),
                (".NaN", True, False),
                (".xorsign.abs", False, True),
                (".NaN.xorsign.abs", True, True),
            ):
                yield row(
                    f"{name}{words}.{kind} %0, %1, %2;",
                    2,
                    kind,
                    lambda a, b, choose=choose, keeps=keeps, sizes=sizes, form=form: (
                        exact.of_sizes(choose, a, b, form, keeps) if sizes else choose(a, b, form, keeps)
                    ),
                )
        yield row(f"neg.{kind} %0, %1;", 1, kind, lambda a: a ^ 0x8000)
        yield row(f"abs.{kind} %0, %1;", 1, kind, lambda a: a & 0x7FFF)
        one = {"f16": 0x3C00, "bf16": 0x3F80}[kind.removesuffix("x2")]
        yield row(
            f"set.le.{kind}.{kind} %0, %1, %2;",
            2,
            kind,
            lambda a, b, form=form, one=one: one if compares("le", a, b, form) else 0,
        )
        if kind.endswith("x2"):
            yield row(
                f"set.gtu.u32.{kind} %0, %1, %2;",
                2,
                kind,
                lambda a, b, form=form: 0xFFFF if compares("gtu", a, b, form) else 0,
            )


def relu(made: Bits, form: Format) -> Bits:
    return made if made is None else 0 if made & form.sign else made


def reciprocal_of_upper_half(word: int) -> Bits:
    """1 / x in the upper 32 bits of a float64, of which the operand has no others."""
    made = operate("rcp", [exact.flushed(word >> 32 << 32, exact.F64)], exact.F64)
    return made if made is None else exact.flushed(made >> 32 << 32, exact.F64)


def choices() -> Iterator[Checked]:
    yield Checked("rcp.approx.ftz.f64 %0, %1;", ("d:f64",), "d", reciprocal_of_upper_half, "f64")
    for name, choose in (("max", exact.larger), ("min", exact.smaller)):
        yield Checked(
            f"{name}.f64 %0, %1, %2;", ("d:f64",) * 2, "d", lambda a, b, choose=choose: choose(a, b, exact.F64), "f64"
        )
        for words, ftz, keeps, sizes in (
            ("", 0, 0, 0),
            (".ftz", 1, 0, 0),
            (".NaN", 0, 1, 0),
            (".ftz.NaN", 1, 1, 0),
            (".xorsign.abs", 0, 0, 1),
            (".NaN.xorsign.abs", 0, 1, 1),
        ):
            yield Checked(
                f"{name}{words}.f32 %0, %1, %2;",
                ("f:f32",) * 2,
                "f",
                lambda a, b, choose=choose, ftz=ftz, keeps=keeps, sizes=sizes: chosen(choose, a, b, ftz, keeps, sizes),
                "f32",
            )
        yield Checked(
            f"{name}.f32 %0, %1, %2, %3;",
            ("f:f32",) * 3,
            "f",
            lambda a, b, c, choose=choose: last_chosen(choose, choose(a, b, exact.F32), c),
            "f32",
        )
    for kind, form in (("f32", exact.F32), ("f64", exact.F64)):
        operand = OPERAND[kind]
        sign = form.sign
        yield Checked(f"neg.{kind} %0, %1;", (operand,), operand[0], lambda a, sign=sign: a ^ sign, kind)
        yield Checked(f"abs.{kind} %0, %1;", (operand,), operand[0], lambda a, sign=sign: a & (sign - 1), kind)
        yield Checked(
            f"copysign.{kind} %0, %1, %2;",
            (operand,) * 2,
            operand[0],
            lambda a, b, sign=sign: a & sign | b & (sign - 1),
        )
        for how in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            yield Checked(
                f"{{ .reg .pred p, q; setp.{how}.{kind} p|q, %1, %2; selp.u32 %0, 1, 2, p; @q add.u32 %0, %0, 4; }}",
                (operand,) * 2,
                "r",
                lambda a, b, how=how, form=form: 1 if compares(how, a, b, form) else 6,
            )
        yield Checked(
            f"set.lt.f32.{kind} %0, %1, %2;",
            (operand,) * 2,
            "f",
            lambda a, b, form=form: 0x3F800000 if compares("lt", a, b, form) else 0,
        )
        for name, test in TESTS.items():
            yield Checked(
                f"{{ .reg .pred p; testp.{name}.{kind} p, %1; selp.u32 %0, 1, 0, p; }}",
                (operand,),
                "r",
                lambda a, test=test, form=form: int(test(decode(a, form), form)),
            )
    yield Checked(
        "{ .reg .pred p; setp.eq.ftz.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }",
        ("f:f32",) * 2,
        "r",
        lambda a, b: int(compares("eq", exact.flushed(a, exact.F32), exact.flushed(b, exact.F32), exact.F32)),
    )
    for kind in ("f16", "bf16"):
        yield Checked(
            f"{{ .reg .pred p, q; setp.ge.{kind}x2 p|q, %1, %2; selp.u32 %0, 1, 0, p; @q or.b32 %0, %0, 2; }}",
            (OPERAND[f"{kind}x2"],) * 2,
            "r",
            lambda a, b, form=FORMATS[kind]: sum(
                compares("ge", x, y, form) << i for i, (x, y) in enumerate(zip(halves(a, 2), halves(b, 2), strict=True))
            ),
        )
        yield Checked(
            f"{{ .reg .pred p; setp.lt.{kind} p, %1, %2; selp.u32 %0, 1, 0, p; }}",
            (OPERAND[kind],) * 2,
            "r",
            lambda a, b, form=FORMATS[kind]: int(compares("lt", a, b, form)),
        )
        wide = FORMATS[kind]
        yield Checked(
            f"add.rz.f32.{kind} %0, %1, %2;",
            (OPERAND[kind], "f:f32"),
            "f",
            lambda a, b, wide=wide: exact.add(decode(a, wide), decode(b, exact.F32), exact.F32, "rz"),
            "f32",
        )
        yield Checked(
            f"fma.rn.f32.{kind} %0, %1, %2, %3;",
            (OPERAND[kind], OPERAND[kind], "f:f32"),
            "f",
            lambda a, b, c, wide=wide: exact.add(
                exact.product(decode(a, wide), decode(b, wide)), decode(c, exact.F32), exact.F32
            ),
            "f32",
        )


TESTS: dict[str, Callable[[Number | None, Format], bool]] = {
    "finite": lambda a, _: a is not None and not a.is_infinite,
    "infinite": lambda a, _: a is not None and a.is_infinite,
    "number": lambda a, _: a is not None,
    "notanumber": lambda a, _: a is None,
    "normal": lambda a, form: a is not None and not a.is_infinite and a.size >= exact.Fraction(2) ** (1 - form.bias),
    "subnormal": lambda a, form: (
        a is not None and not a.is_infinite and 0 < a.size < exact.Fraction(2) ** (1 - form.bias)
    ),
}


def chosen(choose: Callable[..., Bits], a: int, b: int, ftz: int, keeps: int, sizes: int) -> Bits:
    if ftz:
        a, b = exact.flushed(a, exact.F32), exact.flushed(b, exact.F32)
    return exact.of_sizes(choose, a, b, exact.F32, bool(keeps)) if sizes else choose(a, b, exact.F32, bool(keeps))


def last_chosen(choose: Callable[..., Bits], made: Bits, c: int) -> Bits:
    return choose(0x7FC00000 if made is None else made, c, exact.F32)


def compares(how: str, a: int, b: int, form: Format) -> bool:
    x, y = decode(a, form), decode(b, form)
    if x is None or y is None:
        return how.endswith("u") or how == "nan"
    left = x.value if not x.is_infinite else exact.Fraction(2) ** 2000 * (-1 if x.negative else 1)
    right = y.value if not y.is_infinite else exact.Fraction(2) ** 2000 * (-1 if y.negative else 1)
    return {
        "eq": left == right,
        "ne": left != right,
        "lt": left < right,
        "le": left <= right,
        "gt": left > right,
        "ge": left >= right,
        "num": True,
        "nan": False,
    }[how.removesuffix("u") if how not in ("num",) else how]


def pairs() -> Iterator[Checked]:
    def both(meaning: Callable[..., Bits]) -> Callable[..., tuple[Bits, ...]]:
        return lambda *words: tuple(meaning(*((word >> 32 * i) & 0xFFFFFFFF for word in words)) for i in range(2))

    for what in ("add", "sub", "mul", "fma"):
        for mode in MODES:
            for ftz in (False, True):
                text = f"{what}.{mode}{'.ftz' if ftz else ''}.f32x2 {places(COUNTS[what])};"
                meaning = both(of(what, exact.F32, mode, ftz))
                yield Checked(text, ("l:f32x2",) * COUNTS[what], "l", meaning, "f32")


def conversions() -> Iterator[Checked]:
    floats = ("f16", "bf16", "f32", "f64")
    for kind in floats:
        form, operand = FORMATS[kind], OPERAND[kind]
        for name, size, signed in INTEGERS:
            letter = LETTERS[size]
            for mode in MODES:
                if kind == "bf16" and mode != "rn":
                    continue
                yield Checked(
                    f"cvt.{mode}.{kind}.{name} %0, %1;",
                    (letter,),
                    operand[0],
                    lambda a, size=size, signed=signed, form=form, mode=mode: of_integer(a, size, signed, form, mode),
                )
                yield Checked(
                    f"cvt.{mode}i.{name}.{kind} %0, %1;",
                    (operand,),
                    letter,
                    lambda a, size=size, signed=signed, form=form, mode=mode: exact.to_integer(
                        decode(a, form), mode, size, signed
                    ),
                )
        for other in floats:
            to = FORMATS[other]
            if form.fraction < to.fraction and (kind, other) != ("bf16", "f16"):
                yield Checked(
                    f"cvt.{other}.{kind} %0, %1;",
                    (operand,),
                    OPERAND[other][0],
                    lambda a, form=form, to=to: exact.to_bits(decode(a, form), to),
                    other,
                )
            elif kind != other and kind in ("f32", "f64") and not (kind == "f64" and other == "bf16"):
                for mode in MODES[:2] if other == "bf16" else MODES:
                    yield Checked(
                        f"cvt.{mode}.{other}.{kind} %0, %1;",
                        (operand,),
                        OPERAND[other][0],
                        lambda a, form=form, to=to, mode=mode: exact.to_bits(decode(a, form), to, mode),
                        other,
                    )
    for mode in MODES:
        yield Checked(
            f"cvt.{mode}i.f32.f32 %0, %1;", ("f:f32",), "f", lambda a, mode=mode: whole(a, exact.F32, mode), "f32"
        )
        yield Checked(
            f"cvt.{mode}i.f64.f64 %0, %1;", ("d:f64",), "d", lambda a, mode=mode: whole(a, exact.F64, mode), "f64"
        )
    yield Checked(
        "cvt.sat.f32.f32 %0, %1;",
        ("f:f32",),
        "f",
        lambda a: exact.clamped(None if decode(a, exact.F32) is None else a, exact.F32),
    )
    yield Checked(
        "cvt.rn.ftz.f32.f64 %0, %1;",
        ("d:f64",),
        "f",
        lambda a: flush_any(exact.to_bits(decode(a, exact.F64), exact.F32)),
        "f32",
    )
    yield Checked(
        "cvt.rzi.ftz.s32.f32 %0, %1;",
        ("f:f32",),
        "r",
        lambda a: exact.to_integer(decode(exact.flushed(a, exact.F32), exact.F32), "rz", 32, True),
    )


def conversions_of_bf16() -> Iterator[Checked]:
    """From and to float16, to the nearest unless it is said; to wider types, whatever is said."""
    for kind, other in (("f16", "bf16"), ("bf16", "f16"), ("bf16", "f32"), ("bf16", "f64")):
        plain = ("",) if other.endswith("16") else ()
        for words in (*plain, *(f".{mode}" for mode in MODES)):
            mode, form, to = words[1:] or "rn", FORMATS[kind], FORMATS[other]
            yield Checked(
                f"cvt{words}.{other}.{kind} %0, %1;",
                (OPERAND[kind],),
                OPERAND[other][0],
                lambda a, form=form, to=to, mode=mode: exact.to_bits(decode(a, form), to, mode),
                other,
            )


def conversions_to_tf32() -> Iterator[Checked]:
    tf32 = Format(8, 10)
    for mode in ("rn", "rz"):
        for words in ("", ".relu", ".satfinite", ".relu.satfinite"):
            yield Checked(
                f"cvt.{mode}{words}.tf32.f32 %0, %1;",
                ("f:f32",),
                "r",
                lambda a, mode=mode, words=words: cut_off(narrow_or_any(a, tf32, mode), words),
            )
    yield Checked("cvt.rna.tf32.f32 %0, %1;", ("f:f32",), "r", half_away)
    yield Checked("cvt.rna.satfinite.tf32.f32 %0, %1;", ("f:f32",), "r", lambda a: cut_off(half_away(a), ".satfinite"))


def integer_conversions() -> Iterator[Checked]:
    for name, size, signed in [("u8", 8, False), ("s8", 8, True), *INTEGERS]:
        for other, bits, is_signed in [("u8", 8, False), ("s8", 8, True), *INTEGERS]:
            holds = bits >= size if signed == is_signed else is_signed and bits > size
            for sat in ("",) if holds else ("", ".sat"):
                yield Checked(
                    f"cvt{sat}.{other}.{name} %0, %1;",
                    (LETTERS[size],),
                    LETTERS[bits],
                    lambda a, size=size, signed=signed, bits=bits, is_signed=is_signed, sat=sat: integer(
                        a, size, signed, bits, is_signed, bool(sat)
                    ),
                )
    for bits in (2, 4, 8):
        for signed in (False, True):
            yield Checked(
                f"cvt.pack.sat.{'su'[not signed]}{bits}.s32.b32 %0, %1, %2, %3;",
                ("r", "r", "r"),
                "r",
                lambda a, b, c, bits=bits, signed=signed: (
                    c << 2 * bits | clamp(a, bits, signed) << bits | clamp(b, bits, signed)
                ),
            )
    yield Checked(
        "cvt.pack.sat.u16.s32 %0, %1, %2;",
        ("r", "r"),
        "r",
        lambda a, b: clamp(a, 16, False) << 16 | clamp(b, 16, False),
    )


def narrow_or_any(a: int, form: Format, mode: str) -> int:
    """A float32 of fewer digits in 32 bits; infinities as they are, and one NaN, as on an H200."""
    number = decode(a, exact.F32)
    if number is None or number.is_infinite:
        return 0x7FFFE000 if number is None else a
    made = exact.encode(number.negative, number.size, form, mode)
    return made << 13


def cut_off(made: int, words: str) -> int:
    """A float of 10 digits without negative numbers, or without infinities, as it is asked."""
    if ".relu" in words and made >> 31:
        made = 0
    return made - 0x2000 if ".satfinite" in words and made & 0x7FFFFFFF == 0x7F800000 else made


def half_away(a: int) -> int:
    """A float of 10 digits, to the nearest, and half of a step away from 0; a NaN loses its last digits, too."""
    if decode(a, exact.F32) is None:
        return a & 0xFFFFE000
    up, down = narrow_or_any(a, Format(8, 10), "rp"), narrow_or_any(a, Format(8, 10), "rm")
    return max(up, down) if a & 0x1FFF >= 0x1000 else min(up, down)


def flush_any(bits: Bits) -> Bits:
    return None if bits is None else exact.flushed(bits, exact.F32)


def clamp(a: int, bits: int, signed: bool) -> int:
    value = a - (1 << 32) if a >> 31 else a
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, least), most) & ((1 << bits) - 1)


def integer(a: int, size: int, signed: bool, bits: int, is_signed: bool, saturates: bool) -> int:
    a &= (1 << size) - 1
    value = a - (1 << size) if signed and a >> (size - 1) else a
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if saturates:
        value = min(max(value, least), most)
    value &= (1 << bits) - 1
    wide = 16 if bits == 8 else bits  # a register of 16 bits holds it by its sign
    return (value - (1 << bits) if is_signed and value >> (bits - 1) else value) & ((1 << wide) - 1)


def of_integer(a: int, size: int, signed: bool, form: Format, mode: str) -> int:
    value = a - (1 << size) if signed and a >> (size - 1) else a
    return exact.encode(value < 0, exact.Fraction(abs(value)), form, mode)


def whole(a: int, form: Format, mode: str) -> Bits:
    number = decode(a, form)
    if number is None or number.is_infinite:
        return None if number is None else a
    return exact.encode(number.negative, exact.Fraction(exact.round_whole(number.size, number.negative, mode)), form)


def every_float_row() -> list[Checked]:
    return [*arithmetic(), *sixteen_bits(), *choices(), *pairs()]


def every_conversion() -> list[Checked]:
    return [
        *conversions(),
        *conversions_of_bf16(),
        *conversions_to_tf32(),
        *integer_conversions(),
        *random_conversions(),
    ]

"""What PTX's integers, bits, comparisons, choices and moves mean, by whole numbers of Python."""

from collections.abc import Callable, Iterator

from ptx_rows import Checked

LETTERS = {16: "h", 32: "r", 64: "l"}
TYPES = [(f"{sign}{bits}", bits, sign == "s") for bits in (16, 32, 64) for sign in "us"]


def number(bits: int, size: int, is_signed: bool) -> int:
    """The integer that bits are."""
    bits &= (1 << size) - 1
    return bits - (1 << size) if is_signed and bits >> (size - 1) else bits


def of(size: int, is_signed: bool, meaning: Callable[..., int]) -> Callable[..., int]:
    """The meaning on bits for a meaning on integers of one type."""
    return lambda *words: meaning(*(number(word, size, is_signed) for word in words)) & ((1 << 2 * size) - 1)


def cut(value: int, least: int, most: int) -> int:
    return min(max(value, least), most)


def arithmetic() -> Iterator[Checked]:
    for name, size, signed in TYPES:
        two, three = (LETTERS[size],) * 2, (LETTERS[size],) * 3
        out = LETTERS[size]

        def row(text: str, inputs: tuple[str, ...], meaning: Callable[..., int], out: str = out) -> Checked:
            return Checked(text, inputs, out, of(size, signed, meaning))  # noqa: B023 -- called at once

        given = "%0, %1, %2;"
        yield row(f"add.{name} {given}", two, lambda a, b: a + b)
        yield row(f"sub.{name} {given}", two, lambda a, b: a - b)
        yield row(f"min.{name} {given}", two, min)
        yield row(f"max.{name} {given}", two, max)
        yield row(f"mul.lo.{name} {given}", two, lambda a, b: a * b)
        yield row(f"mul.hi.{name} {given}", two, lambda a, b, size=size: a * b >> size)
        yield row(f"div.{name} {given}", two, lambda a, b: quotient(a, b) if b else -1)
        yield row(f"rem.{name} {given}", two, lambda a, b: a - b * quotient(a, b) if b else a)
        yield row(f"sad.{name} %0, %1, %2, %3;", three, lambda a, b, c: abs(a - b) + c)
        yield row(f"mad.lo.{name} %0, %1, %2, %3;", three, lambda a, b, c: a * b + c)
        yield row(f"mad.hi.{name} %0, %1, %2, %3;", three, lambda a, b, c, size=size: (a * b >> size) + c)
        if signed:
            yield row(f"neg.{name} %0, %1;", two[:1], lambda a: -a)
            yield row(f"abs.{name} %0, %1;", two[:1], abs)
        if size < 64:
            wide = LETTERS[2 * size]
            yield row(f"mul.wide.{name} {given}", two, lambda a, b: a * b, wide)
            yield Checked(
                f"mad.wide.{name} %0, %1, %2, %3;",
                (*two, wide),
                wide,
                lambda a, b, c, size=size, signed=signed: number(a, size, signed) * number(b, size, signed) + c,
            )
    for name in ("add", "sub"):
        sign = 1 if name == "add" else -1
        yield Checked(
            f"{name}.sat.s32 %0, %1, %2;",
            ("r", "r"),
            "r",
            of(32, True, lambda a, b, sign=sign: cut(a + sign * b, -(1 << 31), (1 << 31) - 1)),
        )
    yield Checked("max.relu.s32 %0, %1, %2;", ("r", "r"), "r", of(32, True, lambda a, b: max(a, b, 0)))
    yield Checked("min.relu.s32 %0, %1, %2;", ("r", "r"), "r", of(32, True, lambda a, b: max(min(a, b), 0)))
    yield Checked(
        "mad.hi.sat.s32 %0, %1, %2, %3;",
        ("r", "r", "r"),
        "r",
        of(32, True, lambda a, b, c: cut((a * b >> 32) + c, -(1 << 31), (1 << 31) - 1)),
    )
    for signed in (False, True):
        kind = "su"[not signed]
        yield Checked(f"mul24.lo.{kind}32 %0, %1, %2;", ("r", "r"), "r", of(24, signed, lambda a, b: a * b))
        yield Checked(f"mul24.hi.{kind}32 %0, %1, %2;", ("r", "r"), "r", of(24, signed, lambda a, b: a * b >> 16))
        for half, shift in (("lo", 0), ("hi", 16)):
            yield Checked(
                f"mad24.{half}.{kind}32 %0, %1, %2, %3;",
                ("r", "r", "r"),
                "r",
                lambda a, b, c, signed=signed, shift=shift: (
                    (number(a, 24, signed) * number(b, 24, signed) >> shift) + c
                ),
            )


def quotient(a: int, b: int) -> int:
    """Toward zero."""
    made = abs(a) // abs(b)
    return made if (a < 0) == (b < 0) else -made


def carries() -> Iterator[Checked]:
    """Sums of 128 and 96 bits, of which the carry makes the last word."""
    yield Checked(
        "{ .reg .u32 low; add.cc.u32 low, %1, %2; addc.cc.u32 low, %3, %4; addc.u32 %0, %3, low; }",
        ("r", "r", "r", "r"),
        "r",
        lambda a, b, c, d: c + ((c + d + (a + b >> 32)) & 0xFFFFFFFF) + (c + d + (a + b >> 32) >> 32),
    )
    yield Checked(
        "{ .reg .u64 low; sub.cc.u64 low, %1, %2; subc.u64 %0, %3, %4; }",
        ("l", "l", "l", "l"),
        "l",
        lambda a, b, c, d: c - d - (a < b),
    )
    yield Checked(
        "{ .reg .u32 low; mad.lo.cc.u32 low, %1, %2, %3; madc.hi.u32 %0, %1, %2, %4; }",
        ("r", "r", "r", "r"),
        "r",
        lambda a, b, c, d: (a * b >> 32) + d + ((a * b & 0xFFFFFFFF) + c >> 32),
    )
    yield Checked(
        "{ .reg .u64 low; mad.lo.cc.u64 low, %1, %2, %3; madc.hi.cc.u64 low, %1, %2, %4; addc.u64 %0, low, 0; }",
        ("l", "l", "l", "l"),
        "l",
        of_many,
    )


def of_many(a: int, b: int, c: int, d: int) -> int:
    word = (1 << 64) - 1
    total = (a * b >> 64) + d + ((a * b & word) + c >> 64)
    return (total & word) + (total >> 64)


def bits() -> Iterator[Checked]:
    for size in (16, 32, 64):
        letter, mask = LETTERS[size], (1 << size) - 1
        for name, meaning in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
            yield Checked(f"{name}.b{size} %0, %1, %2;", (letter, letter), letter, meaning)
        yield Checked(f"not.b{size} %0, %1;", (letter,), letter, lambda a, mask=mask: a ^ mask)
        yield Checked(f"cnot.b{size} %0, %1;", (letter,), letter, lambda a: int(a == 0))
        yield Checked(
            f"shl.b{size} %0, %1, %2;", (letter, "r"), letter, lambda a, n, size=size: a << n if n < size else 0
        )
        yield Checked(f"shr.u{size} %0, %1, %2;", (letter, "r"), letter, lambda a, n, size=size: a >> min(n, size))
        yield Checked(
            f"shr.s{size} %0, %1, %2;",
            (letter, "r"),
            letter,
            lambda a, n, size=size: number(a, size, True) >> min(n, size),
        )
        if size == 16:
            continue
        yield Checked(f"popc.b{size} %0, %1;", (letter,), "r", lambda a: a.bit_count())
        yield Checked(f"clz.b{size} %0, %1;", (letter,), "r", lambda a, size=size: size - a.bit_length())
        yield Checked(f"brev.b{size} %0, %1;", (letter,), letter, lambda a, size=size: int(f"{a:0{size}b}"[::-1], 2))
        yield Checked(
            f"bfi.b{size} %0, %1, %2, %3, %4;",
            (letter, letter, "r:80", "r:80"),
            letter,
            lambda a, b, c, d, size=size: insert(a, b, c, d, size),
        )
        for signed in (False, True):
            kind = f"{'su'[not signed]}{size}"
            yield Checked(
                f"bfe.{kind} %0, %1, %2, %3;",
                (letter, "r:80", "r:80"),
                letter,
                lambda a, c, d, size=size, signed=signed: extract(a, c, d, size, signed),
            )
            yield Checked(
                f"bfind.{kind} %0, %1;", (letter,), "r", lambda a, size=size, signed=signed: highest(a, size, signed)
            )
            yield Checked(
                f"bfind.shiftamt.{kind} %0, %1;",
                (letter,),
                "r",
                lambda a, size=size, signed=signed: (
                    size - 1 - place if (place := highest(a, size, signed)) >= 0 else -1
                ),
            )
    for side in "lr":
        for mode in ("wrap", "clamp"):
            yield Checked(
                f"shf.{side}.{mode}.b32 %0, %1, %2, %3;",
                ("r", "r", "r"),
                "r",
                lambda a, b, c, side=side, mode=mode: funnel(a, b, min(c, 32) if mode == "clamp" else c & 31, side),
            )
    for table in (0x80, 0xE8, 0x96, 0x1B):
        yield Checked(
            f"lop3.b32 %0, %1, %2, %3, {table};",
            ("r", "r", "r"),
            "r",
            lambda a, b, c, table=table: sum(
                (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32)
            ),
        )
    yield Checked(
        "{ .reg .pred p, q; setp.gt.u32 q, %3, 5; lop3.or.b32 %0|p, %1, %2, 0, 0xc0, q; selp.b32 %0, %0, 77, p; }",
        ("r", "r", "r:9"),
        "r",
        lambda a, b, c: a & b if a & b or c > 5 else 77,
    )
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield Checked(
            f"prmt.b32{mode} %0, %1, %2, %3;", ("r", "r", "r"), "r", lambda a, b, c, mode=mode: permuted(a, b, c, mode)
        )
    yield Checked("fns.b32 %0, %1, %2, 1;", ("r", "r:32"), "r", lambda a, b: nth(a, b, 1))
    yield Checked("fns.b32 %0, %1, %2, 3;", ("r", "r:32"), "r", lambda a, b: nth(a, b, 3))
    yield Checked("fns.b32 %0, %1, %2, -2;", ("r", "r:32"), "r", lambda a, b: nth(a, b, -2))
    yield Checked("fns.b32 %0, %1, %2, 0;", ("r", "r:32"), "r", lambda a, b: b if a >> b & 1 else -1)


def insert(a: int, b: int, start: int, length: int, size: int) -> int:
    for i in range(length):
        if start + i < size:
            b = b & ~(1 << (start + i)) | (a >> i & 1 if i < size else 0) << (start + i)
    return b


def extract(a: int, start: int, length: int, size: int, signed: bool) -> int:
    sign = a >> min(start + length - 1, size - 1) & 1 if signed and length else 0
    return sum((a >> (start + i) & 1 if i < length and start + i < size else sign) << i for i in range(size))


def highest(a: int, size: int, signed: bool) -> int:
    if signed and a >> (size - 1):
        a ^= (1 << size) - 1
    return a.bit_length() - 1


def funnel(a: int, b: int, n: int, side: str) -> int:
    both = b << 32 | a
    return both << n >> 32 if side == "l" else both >> n


def nth(mask: int, base: int, offset: int) -> int:
    order = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [i for i in order if mask >> i & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else -1


def permuted(a: int, b: int, c: int, mode: str) -> int:
    both = list((b << 32 | a).to_bytes(8, "little"))
    n = c & 3
    chosen = {
        ".f4e": [n, n + 1, n + 2, n + 3],
        ".b4e": [n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8],
        ".rc8": [n] * 4,
        ".ecl": [max(i, n) for i in range(4)],
        ".ecr": [min(i, n) for i in range(4)],
        ".rc16": [0, 1, 0, 1] if n in (0, 2) else [2, 3, 2, 3],
    }.get(mode)
    if chosen:
        return int.from_bytes(bytes(both[i] for i in chosen), "little")
    made = []
    for i in range(4):
        selector = c >> 4 * i & 15
        byte = both[selector & 7]
        made.append((0xFF if byte & 0x80 else 0) if selector & 8 else byte)
    return int.from_bytes(bytes(made), "little")


def choices() -> Iterator[Checked]:
    signs = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    meanings: dict[str, Callable[[int, int], bool]] = {
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }
    for name, size, signed in TYPES:
        letter = LETTERS[size]
        for how, sign in signs.items():
            compared = of(size, signed, lambda a, b, sign=sign: int(meanings[sign](a, b)))
            yield Checked(
                f"{{ .reg .pred p; setp.{how}.{name} p, %1, %2; selp.u32 %0, 1, 0, p; }}",
                (letter, letter),
                "r",
                compared,
            )
            yield Checked(
                f"set.{how}.u32.{name} %0, %1, %2;", (letter, letter), "r", lambda a, b, one=compared: -one(a, b)
            )
        yield Checked(
            f"{{ .reg .pred p, q; setp.lt.{name} p, %1, %2; setp.ge.xor.{name} p|q, %2, %3, p;"
            " @p mov.u32 %0, 1; @!p mov.u32 %0, 2; @q add.u32 %0, %0, 4; }",
            (letter, letter, letter),
            "r",
            of(size, signed, lambda a, b, c: steps(a < b, b >= c)),
        )
        yield Checked(
            f"slct.{name}.s32 %0, %1, %2, %3;", (letter, letter, "r"), letter, lambda a, b, c: b if c >> 31 else a
        )
    for how, sign in (("lo", "<"), ("ls", "<="), ("hi", ">"), ("hs", ">=")):
        yield Checked(
            f"{{ .reg .pred p; setp.{how}.u32 p, %1, %2; selp.b32 %0, %1, %2, p; }}",
            ("r", "r"),
            "r",
            lambda a, b, sign=sign: a if meanings[sign](a, b) else b,
        )
    yield Checked(
        "{ .reg .pred p, q, r; setp.ne.u32 p, %1, 0; setp.ne.b32 q, %2, 0; and.pred r, p, q; selp.u32 %0, 1, 0, r;"
        " or.pred r, p, q; @r or.b32 %0, %0, 2; xor.pred r, p, q; @r or.b32 %0, %0, 4; not.pred r, p;"
        " @r or.b32 %0, %0, 8; mov.pred r, q; @r or.b32 %0, %0, 16; setp.eq.and.u32 r, %1, %2, !p;"
        " @r or.b32 %0, %0, 32; }",
        ("r:3", "r:3"),
        "r",
        lambda a, b: (
            bool(a and b)
            | bool(a or b) * 2
            | (bool(a) != bool(b)) * 4
            | (not a) * 8
            | bool(b) * 16
            | (a == b and not a) * 32
        ),
    )


def steps(first: bool, second: bool) -> int:
    return (1 if second != first else 2) + 4 * ((not second) != first)


def packed() -> Iterator[Checked]:
    def halves(word: int, signed: bool) -> list[int]:
        return [number(word >> 16 * i, 16, signed) for i in range(2)]

    def bytes_of(word: int, signed: bool) -> list[int]:
        return [number(word >> 8 * i, 8, signed) for i in range(4)]

    def joined(values: list[int]) -> int:
        return sum((one & 0xFFFF) << 16 * i for i, one in enumerate(values))

    for signed in (False, True):
        kind = "su"[not signed]
        for name, meaning in (("min", min), ("max", max)):
            yield Checked(
                f"{name}.{kind}16x2 %0, %1, %2;",
                ("r", "r"),
                "r",
                lambda a, b, signed=signed, meaning=meaning: joined(
                    [meaning(x, y) for x, y in zip(halves(a, signed), halves(b, signed), strict=True)]
                ),
            )
        yield Checked(
            f"add.{kind}16x2 %0, %1, %2;",
            ("r", "r"),
            "r",
            lambda a, b: joined([x + y for x, y in zip(halves(a, False), halves(b, False), strict=True)]),
        )
        for other in (False, True):
            kinds = f"{kind}32.{'su'[not other]}32"
            yield Checked(
                f"dp4a.{kinds} %0, %1, %2, %3;",
                ("r", "r", "r"),
                "r",
                lambda a, b, c, signed=signed, other=other: (
                    c + sum(x * y for x, y in zip(bytes_of(a, signed), bytes_of(b, other), strict=True))
                ),
            )
            for half, first in (("lo", 0), ("hi", 2)):
                yield Checked(
                    f"dp2a.{half}.{kinds} %0, %1, %2, %3;",
                    ("r", "r", "r"),
                    "r",
                    lambda a, b, c, signed=signed, other=other, first=first: (
                        c + sum(x * y for x, y in zip(halves(a, signed), bytes_of(b, other)[first:][:2], strict=True))
                    ),
                )
    yield Checked(
        "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;",
        ("r", "r", "r"),
        "r",
        lambda a, b, c: c + sum(abs(x - y) for x, y in zip(bytes_of(a, False), bytes_of(b, False), strict=True)),
    )


def moves() -> Iterator[Checked]:
    yield Checked("mov.b32 %0, {%1, %2};", ("h", "h"), "r", lambda a, b: b << 16 | a)
    yield Checked("mov.b64 %0, {%1, %2};", ("r", "r"), "l", lambda a, b: b << 32 | a)
    yield Checked("mov.b64 %0, {%1, %2, %3, %4};", ("h",) * 4, "l", lambda a, b, c, d: d << 48 | c << 32 | b << 16 | a)
    yield Checked(
        "{ .reg .b32 a, b; mov.b64 {a, b}, %1; mov.b64 %0, {b, a}; }",
        ("l",),
        "l",
        lambda a: a >> 32 | (a & 0xFFFFFFFF) << 32,
    )
    yield Checked(
        "{ .reg .b16 a; mov.b32 {_, a}, %1; mov.b32 %0, {a, a}; }", ("r",), "r", lambda a: (a >> 16) * 0x10001
    )
    yield Checked("mov.b32 %0, %1;", ("f:f32",), "r", lambda a: a)
    yield Checked("mov.u32 %0, 0x1f;", (), "r", lambda: 31)
    yield Checked("mov.s32 %0, -5;", (), "r", lambda: -5)
    yield Checked("mov.f32 %0, 0f3F800000;", (), "f", lambda: 0x3F800000)
    yield Checked("mov.f64 %0, 0d3FF8000000000000;", (), "d", lambda: 0x3FF8000000000000)
    yield Checked("mov.f32 %0, 1.5;", (), "f", lambda: 0x3FC00000)
    yield Checked(
        "{ .reg .b64 wide; .reg .u32 low, i; .reg .pred more; mov.u32 i, 0; mov.u32 low, %1;\\n"
        " LOOP_%=: add.u32 low, low, i;"
        " add.u32 i, i, 1; setp.lt.u32 more, i, 5; @more bra LOOP_%=;"
        " { .reg .u32 low; mov.u32 low, 100; add.u32 %0, low, 0; }"
        " add.u32 %0, %0, low; }",
        ("r",),
        "r",
        lambda a: a + 10 + 100,
    )


def every_integer_row() -> list[Checked]:
    return [*arithmetic(), *carries(), *bits(), *choices(), *packed(), *moves()]

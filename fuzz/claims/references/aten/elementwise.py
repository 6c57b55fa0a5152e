"""Operations whose answer at a place follows from the operands at that place."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    Text,
    UnknownError,
    Writer,
    Writing,
    number_of,
    text_of,
)


def each(template: str) -> Writing:
    """Element by element: `{0}` and `{1}` are the operands; arithmetic of integers gives integers."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        if options.get("alpha", 1) != 1 or options.get("rounding_mode") is not None:
            raise UnknownError
        if "N." not in template and are_integers(args, options):
            return Term(to.set(name, template.format(*map(text_of, args))), shape, is_mask=True)
        return Term(to.keep(name, template.format(*map(number_of, args))), shape)

    return rule


def are_integers(args: Sequence[Arg], options: dict[str, Arg]) -> bool:
    """Whether operands and result are integers, which nothing rounds."""
    return options.get("dtype") == "int" and all(one.is_mask for one in args if isinstance(one, Term))


def product(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """a b; it notes the square of a tensor, since a sum of squares may be contracted."""
    if are_integers(args, options):
        return Term(to.set(name, f"{text_of(args[0])} * {text_of(args[1])}"), shape, is_mask=True)
    square = text_of(args[0]) if args[0] == args[1] else ""
    return Term(to.keep(name, f"{number_of(args[0])} * {number_of(args[1])}"), shape, square=square)


POWERS = {2: "{0} * {0}", 3: "{1} * {0}", 4: "{1} * {1}", 0.5: "N.sqrt({0})", 1: "{0}",
          -0.5: "N.rsqrt({0})", -1: "1.0 / {0}"}  # fmt: skip
"""By the exponent: `{0}` is the base, and `{1}` its square, which torch rounds to a 16-bit type by itself."""


def power(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A power: by products and roots if the exponent is one of a few, else by powf."""
    del options
    base, exponent = args
    if not isinstance(exponent, int | float) or exponent not in POWERS:
        return Term(to.keep(name, f"N.pow({text_of(base)}, {text_of(exponent)})"), shape)
    x = text_of(base)
    twice = to.step(f"{name}_twice", f"{x} * {x}") if exponent in (3, 4) else ""
    return Term(to.keep(name, POWERS[exponent].format(x, twice)), shape, square=x if exponent == 2 else "")


def nearest(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The nearest integer, the even one at a tie."""
    if options.get("decimals", 0) != 0:
        raise UnknownError
    return Term(to.keep(name, f"N.rint({text_of(args[0])})"), shape)


def clamp(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """No less than the least, no more than the most."""
    least, most = (options.get(key, args[place] if len(args) > place else None) for key, place in LEAST_AND_MOST)
    text = text_of(args[0])
    text = text if least is None else f"N.maximum({text}, {text_of(least)})"
    return Term(to.keep(name, text if most is None else f"N.minimum({text}, {text_of(most)})"), shape)


LEAST_AND_MOST = (("min", 1), ("max", 2))


def hardtanh(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """No less than -1 and no more than 1, or than other numbers; a trace leaves out the usual ones."""
    least, most = (args[place] if len(args) > place else usual for place, usual in ((1, -1.0), (2, 1.0)))
    return clamp(to, name, (args[0], least, most), options, shape)


def gelu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """gelu, by erf or by tanh, as in torch."""
    x = text_of(args[0])
    if options.get("approximate", "none") == "none":
        return Term(to.keep(name, f"0.5 * {x} * (1.0 + N.erf({x} * 0.7071067811865476))"), shape)
    inner = to.set(f"{name}_t", f"0.7978845608028654 * ({x} + 0.044715 * {x} * {x} * {x})")
    to.forms["gelu"] = ("gelu by tanh", "gelu by exp")
    both = f"{x} / (1.0 + N.exp(-2.0 * {inner})) if 'gelu by exp' in N.form else 0.5 * {x} * (1.0 + N.tanh({inner}))"
    return Term(to.keep(name, both), shape)


def silu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x sigmoid(x), in one division or in two steps."""
    del options
    x = text_of(args[0])
    to.forms["silu"] = ("x / (1 + exp(-x))", "x sigmoid(x)")
    both = f"{x} * N.sigmoid({x}) if 'x sigmoid(x)' in N.form else {x} / (1.0 + N.exp(-{x}))"
    return Term(to.keep(name, both), shape)


SOFTPLUS = "(N.maximum({0}, 0.0) + N.log(1.0 + N.exp(-abs({0}))))"
"""log(1 + exp(x)), without overflow in exp(x)."""
STEEP = "((N.maximum({0}, 80.0) - 80.0) + N.log(1.0 + N.exp(N.minimum({0}, 80.0))))"
"""The same as it is written, below an overflow of exp(x)."""
LEAST_THRESHOLD = 17
"""log(1 + exp(-17)) is 4.1e-8: from there on less than half of the last place of a float32 x."""


def softplus(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """log(1 + exp(beta x)) / beta; above a threshold torch returns x, which equals it in float32 but not in double."""
    del options
    beta, threshold = (args[place] if len(args) > place else usual for place, usual in ((1, 1), (2, 20)))
    if not isinstance(beta, int | float) or not isinstance(threshold, int | float):
        raise UnknownError
    if not beta > 0 or threshold < LEAST_THRESHOLD:
        raise UnknownError
    to.is_single = True
    x = text_of(args[0]) if beta == 1 else to.set(f"{name}_scaled", f"{text_of(args[0])} * {beta!r}")
    to.forms["softplus"] = ("softplus by max", "softplus by exp")
    text = f"({STEEP.format(x)} if 'softplus by exp' in N.form else {SOFTPLUS.format(x)})"
    return Term(to.keep(name, text if beta == 1 else f"{text} / {beta!r}"), shape)


def mish(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x tanh(log(1 + exp(x)))."""
    del options
    return Term(to.keep(name, f"{text_of(args[0])} * N.tanh({SOFTPLUS.format(text_of(args[0]))})"), shape)


def minus_one(to: Writer, text: Text) -> Text:
    """exp(t) - 1, which a kernel computes as it is written or by expm1, whose error is relative to the difference."""
    to.forms["expm1"] = ("exp(x) - 1", "expm1(x)")
    return f"(N.expm1({text}) if 'expm1(x)' in N.form else N.exp({text}) - 1.0)"


def expm1(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """exp(x) - 1."""
    del options
    return Term(to.keep(name, minus_one(to, text_of(args[0]))), shape)


def elu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """scale x above 0, scale alpha (exp(input_scale x) - 1) below; one of the two terms is always 0."""
    del options
    x = text_of(args[0])
    alpha, scale, within = (args[place] if len(args) > place else 1 for place in (1, 2, 3))
    if not isinstance(within, int | float) or not within > 0:
        raise UnknownError
    least = f"N.minimum({x}, 0.0)" if within == 1 else f"N.minimum({x}, 0.0) * {within!r}"
    below = f"{text_of(alpha)} * {text_of(scale)} * {minus_one(to, least)}"
    return Term(to.keep(name, f"N.maximum({x}, 0.0) * {text_of(scale)} + {below}"), shape)


def celu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x above 0, alpha (exp(x / alpha) - 1) below."""
    alpha = args[1] if len(args) > 1 else 1.0
    if not isinstance(alpha, int | float) or not alpha > 0:
        raise UnknownError
    return elu(to, name, (args[0], alpha, 1, 1 / alpha), options, shape)


def leaky_relu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x above 0, slope x below, which is the larger of the two where the slope is no more than 1."""
    del options
    x, slope = text_of(args[0]), args[1] if len(args) > 1 else 0.01
    if not isinstance(slope, int | float) or not 0 <= slope <= 1:
        raise UnknownError
    return Term(to.keep(name, f"N.maximum({x}, {x} * {slope!r})"), shape)

"""Operations whose answer at a place follows from the operands at that place."""

from collections.abc import Sequence

from kfuzz.callables.aten.term import Arg, SizeTexts, Term, UnknownError, Writer, Writing, text_of


def each(template: str) -> Writing:
    """Element by element: `{0}` and `{1}` are the operands."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        if options.get("alpha", 1) != 1 or options.get("rounding_mode") is not None:
            raise UnknownError
        return Term(to.keep(name, template.format(*map(text_of, args))), shape)

    return rule


def product(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """a b; it notes the square of a tensor, since a sum of squares may be contracted."""
    del options
    square = text_of(args[0]) if args[0] == args[1] else ""
    return Term(to.keep(name, f"{text_of(args[0])} * {text_of(args[1])}"), shape, square=square)


POWERS = {2: "{0} * {0}", 3: "{0} * {0} * {0}", 4: "({0} * {0}) * ({0} * {0})", 0.5: "N.sqrt({0})", 1: "{0}",
          -0.5: "N.rsqrt({0})", -1: "1.0 / {0}"}  # fmt: skip


def power(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A power whose exponent is one of a few."""
    del options
    exponent = args[1]
    if not isinstance(exponent, int | float) or exponent not in POWERS:
        raise UnknownError
    square = text_of(args[0]) if exponent == 2 else ""
    return Term(to.keep(name, POWERS[exponent].format(text_of(args[0]))), shape, square=square)


def clamp(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """No less than the least, no more than the most."""
    least, most = (options.get(key, args[place] if len(args) > place else None) for key, place in LEAST_AND_MOST)
    text = text_of(args[0])
    text = text if least is None else f"N.maximum({text}, {text_of(least)})"
    return Term(to.keep(name, text if most is None else f"N.minimum({text}, {text_of(most)})"), shape)


LEAST_AND_MOST = (("min", 1), ("max", 2))


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


def softplus(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """log(1 + exp(x)); from 20 on torch returns x, which equals it in float32 but not in double."""
    del options
    if list(args[1:]) not in ([], [1], [1, 20]):
        raise UnknownError
    to.is_single = True
    return Term(to.keep(name, SOFTPLUS.format(text_of(args[0]))), shape)


def mish(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x tanh(log(1 + exp(x)))."""
    del options
    return Term(to.keep(name, f"{text_of(args[0])} * N.tanh({SOFTPLUS.format(text_of(args[0]))})"), shape)


def elu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """scale x above 0, scale alpha (exp(x) - 1) below; one of the two terms is always 0."""
    del options
    x = text_of(args[0])
    alpha, scale = (args[place] if len(args) > place else 1 for place in (1, 2))
    if len(args) > 3 and args[3] != 1:
        raise UnknownError
    below = f"{text_of(alpha)} * {text_of(scale)} * (N.exp(N.minimum({x}, 0.0)) - 1.0)"
    return Term(to.keep(name, f"N.maximum({x}, 0.0) * {text_of(scale)} + {below}"), shape)


def leaky_relu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x above 0, slope x below, which is the larger of the two where the slope is no more than 1."""
    del options
    x, slope = text_of(args[0]), args[1] if len(args) > 1 else 0.01
    if not isinstance(slope, int | float) or not 0 <= slope <= 1:
        raise UnknownError
    return Term(to.keep(name, f"N.maximum({x}, {x} * {slope!r})"), shape)

"""What torch's operations mean in the words of a formula: each as a line of text over a number system N.

Knows the operations by their names, as a trace of a reference has them; torch is not imported here. One that is not
in the table is `N.unknown`: what depends on it is not judged.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Text = str
SizeTexts = tuple[Text, ...]
"""The sizes of a tensor, each an expression over the sizes of the inputs."""


@dataclass(frozen=True)
class Term:
    """A tensor of the trace as a formula holds it.

    `text`: its name. `whole`: the same elements before their leading dimensions were merged. `weights`: of a softmax
    along the last axis the exponentials, before they are divided. `square`: of a product of one tensor with itself,
    that tensor. `is_mask`: it holds integers or truths, as numpy does.
    """

    text: Text
    shape: SizeTexts
    whole: "Term | None" = None
    weights: Text = ""
    square: Text = ""
    is_mask: bool = False


Arg = Term | float | int | bool | str | None
"""A tensor, a number, or the text of a number that follows from sizes."""


class UnknownError(Exception):
    """The table does not have it."""


class Writer:
    """The lines of a formula. `dims`: for the text of a size the name of the dimension that it is of."""

    def __init__(self, dims: dict[Text, str]) -> None:
        self.dims = dims
        self.lines: list[tuple[str, Text]] = []
        self.forms: dict[str, tuple[str, ...]] = {}
        self.masked_is_zero = False

    def set(self, name: str, text: Text) -> Text:
        """A line that gives a value a name."""
        self.lines.append((name, text))
        return name

    def kept(self, name: str, text: Text) -> Text:
        """A value that the reference holds in a tensor, and a kernel with 16-bit arrays may hold as narrow."""
        return self.set(name, f'N.keep({text}, "{name}")')


Writing = Callable[[Writer, str, Sequence[Arg], dict[str, Arg], SizeTexts], Term]


def of(operand: Arg) -> Text:
    """An operand in a formula's text."""
    if isinstance(operand, Term):
        return operand.text
    if isinstance(operand, str):
        return operand
    if operand is None or isinstance(operand, bool):
        raise UnknownError
    return "N.inf" if operand == math.inf else "-N.inf" if operand == -math.inf else repr(operand)


def each(template: str) -> Writing:
    """Element by element: `{0}` and `{1}` are the operands."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        if options.get("alpha", 1) != 1 or options.get("rounding_mode") is not None:
            raise UnknownError
        return Term(to.kept(name, template.format(*map(of, args))), shape)

    return rule


def product(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """a b; of a tensor with itself it is remembered, since a sum of squares may be contracted."""
    del options
    square = of(args[0]) if args[0] == args[1] else ""
    return Term(to.kept(name, f"{of(args[0])} * {of(args[1])}"), shape, square=square)


POWERS = {2: "{0} * {0}", 3: "{0} * {0} * {0}", 4: "({0} * {0}) * ({0} * {0})", 0.5: "N.sqrt({0})", 1: "{0}",
          -0.5: "N.rsqrt({0})", -1: "1.0 / {0}"}  # fmt: skip


def power(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A power whose exponent is one of a few."""
    del options
    exponent = args[1]
    if not isinstance(exponent, int | float) or exponent not in POWERS:
        raise UnknownError
    square = of(args[0]) if exponent == 2 else ""
    return Term(to.kept(name, POWERS[exponent].format(of(args[0]))), shape, square=square)


def clamp(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """No less than the least, no more than the most."""
    least, most = (options.get(key, args[place] if len(args) > place else None) for key, place in LEAST_AND_MOST)
    text = of(args[0])
    text = text if least is None else f"N.maximum({text}, {of(least)})"
    return Term(to.kept(name, text if most is None else f"N.minimum({text}, {of(most)})"), shape)


LEAST_AND_MOST = (("min", 1), ("max", 2))


def gelu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """In either of torch's two ways."""
    x = of(args[0])
    if options.get("approximate", "none") == "none":
        return Term(to.kept(name, f"0.5 * {x} * (1.0 + N.erf({x} * 0.7071067811865476))"), shape)
    inner = to.set(f"{name}_t", f"0.7978845608028654 * ({x} + 0.044715 * {x} * {x} * {x})")
    to.forms["gelu"] = ("gelu by tanh", "gelu by exp")
    both = f"{x} / (1.0 + N.exp(-2.0 * {inner})) if 'gelu by exp' in N.form else 0.5 * {x} * (1.0 + N.tanh({inner}))"
    return Term(to.kept(name, both), shape)


def silu(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x sigmoid(x), in one division or in two steps."""
    del options
    x = of(args[0])
    to.forms["silu"] = ("x / (1 + exp(-x))", "x sigmoid(x)")
    both = f"{x} * N.sigmoid({x}) if 'x sigmoid(x)' in N.form else {x} / (1.0 + N.exp(-{x}))"
    return Term(to.kept(name, both), shape)


# -- along axes


def whole_number(operand: Arg) -> int:
    """An axis, or another number that does not follow from sizes."""
    if isinstance(operand, bool) or not isinstance(operand, int):
        raise UnknownError
    return operand


def tensor(operand: Arg) -> Term:
    """A tensor of numbers."""
    if not isinstance(operand, Term) or operand.is_mask:
        raise UnknownError
    return operand


def axes_of(x: Term, said: object) -> list[int]:
    """Axes, counted from the end; none that are said are all."""
    every = [said] if isinstance(said, int) else list(said) if isinstance(said, list | tuple) else []
    many = len(x.shape)
    return sorted({axis % many - many for axis in every}) or list(range(-many, 0))


def gathered(to: Writer, name: str, x: Term, axes: list[int]) -> tuple[Text, int]:
    """The tensor with all these axes in one, and which that is: a sum over two may add in any order."""
    many = len(x.shape)
    if len(axes) == 1:
        return x.text, axes[0]
    others = [axis for axis in range(-many, 0) if axis not in axes]
    order = tuple(axis % many for axis in (*others, *axes))
    moved = x.text if order == tuple(range(many)) else f"{x.text}.permuted({order})"
    rest = "".join(f"{x.shape[axis]}, " for axis in others)
    return to.set(f"{name}_in_one", f"{moved}.reshaped({rest}-1)"), -1


def without(text: Text, axis: int) -> Text:
    """A tensor without an axis that a reduction has left with one element."""
    return f"{text}[..., 0{', :' * (-axis - 1)}]"


def reduction(word: str) -> Writing:
    """A reduction over axes; `word` makes it of the tensor, its name and the axis."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        x = tensor(args[0])
        said: object = args[1] if len(args) > 1 else options.get("dim")
        axes = axes_of(x, said)
        inside, axis = gathered(to, name, x, axes)
        square = x.square if len(axes) == 1 else ""
        text = of_squares(word, square, name, axis) if square else word.format(x=inside, name=name, axis=axis)
        return finished(to, name, text, shape, len(x.shape), len(axes), axis)

    return rule


def of_squares(word: str, square: Text, name: str, axis: int) -> Text:
    """A sum or a mean of squares, whose products may be contracted into it."""
    if word == SUM:
        return f'N.dot({square}, {square}, "{name}", axis={axis})'
    if word == MEAN:
        return f'N.dot({square}, {square}, "{name}", axis={axis}) / {square}.shape[{axis}]'
    return word.format(x=f"({square} * {square})", name=name, axis=axis)


def finished(to: Writer, name: str, text: Text, shape: SizeTexts, before: int, reduced: int, axis: int) -> Term:
    """What is left of a reduction, in the shape that the reference gives it."""
    if reduced > 1:
        inside = to.kept(name, without(text if text.startswith("N.") else f"({text})", axis))
        spread = ", ".join(shape)
        return Term(to.set(f"{name}_shaped", f"{inside}.reshaped({spread})") if len(shape) == before else inside, shape)
    bracketed = text if text.startswith("N.") and " / " not in text else f"({text})"
    return Term(to.kept(name, text if len(shape) == before else without(bracketed, axis)), shape)


SUM = 'N.sum({x}, "{name}", axis={axis})'
MEAN = 'N.mean({x}, "{name}", axis={axis})'


def softmax(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """exp(x - m) / sum exp(x - m)."""
    del options
    x = tensor(args[0])
    axis = axes_of(x, args[1])[0]
    e = to.kept(f"{name}_e", f"N.exp({x.text} - N.shift({x.text}, axis={axis}))")
    text = to.kept(name, f'{e} / N.sum({e}, "{name}", axis={axis})')
    return Term(text, shape, weights=e if axis == -1 else "")


def safe_softmax(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A softmax whose rows of nothing but -inf are zero."""
    to.masked_is_zero = True
    return softmax(to, name, args, options, shape)


def log_softmax(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x - log sum exp(x), in either of the two ways."""
    del options
    x = tensor(args[0])
    axis = axes_of(x, args[1])[0]
    m = to.set(f"{name}_m", f"N.shift({x.text}, axis={axis})")
    log = to.set(f"{name}_log", f'N.log(N.sum(N.exp({x.text} - {m}), "{name}", axis={axis}))')
    to.forms["log_softmax"] = ("x - m - log s", "x - lse")
    text = f"{x.text} - ({m} + {log}) if 'x - lse' in N.form else ({x.text} - {m}) - {log}"
    return Term(to.kept(name, text), shape)


def logsumexp(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """m + log sum exp(x - m)."""
    x = tensor(args[0])
    axes = axes_of(x, args[1] if len(args) > 1 else options.get("dim"))
    inside, axis = gathered(to, name, x, axes)
    m = to.set(f"{name}_m", f"N.shift({inside}, axis={axis})")
    text = f'({m} + N.log(N.sum(N.exp({inside} - {m}), "{name}", axis={axis})))'
    return finished(to, name, text, shape, len(x.shape), len(axes), axis)


def variance(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """By any of the algorithms in use."""
    x = tensor(args[0])
    axes = axes_of(x, args[1] if len(args) > 1 else options.get("dim"))
    correction = options.get("correction")
    _, var = moments(to, name, x, axes, 1 if correction is None else whole_number(correction))
    return finished(to, name, var, shape, len(x.shape), max(len(axes), 1), -1)


def moments(to: Writer, name: str, x: Term, axes: list[int], correction: int) -> tuple[Text, Text]:
    """The mean and the variance over the last axes, which are one then."""
    if axes != list(range(-len(axes), 0)):
        raise UnknownError
    inside, _ = gathered(to, name, x, axes)
    to.forms["moments"] = ("two pass", "welford", "moments")
    both = f'N.mean_var({inside}, ("{name}_mean", "{name}_var"), {correction})'
    pair = to.set(f"{name}_both", both)
    return f"{pair}[0]", f"{pair}[1]"


def deviation(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The root of the variance."""
    made = variance(to, f"{name}_squared", args, options, shape)
    return Term(to.kept(name, f"N.sqrt({made.text})"), shape)


def layer_norm(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """(x - mean) / sqrt(var + eps) w + b, over the last axes."""
    del options
    x, sizes = tensor(args[0]), args[1]
    if not isinstance(sizes, list | tuple) or len(sizes) != 1:
        raise UnknownError
    mean, var = moments(to, name, x, [-1], 0)
    normed = f"({x.text} - {mean}) * N.rsqrt({var} + {of(args[4])})"
    return scaled(to, name, normed, args[2:4], shape)


def scaled(to: Writer, name: str, text: Text, by: Sequence[Arg], shape: SizeTexts) -> Term:
    """Times a weight, and a bias more, where there are such."""
    weight, bias = by
    text = text if weight is None else f"{to.kept(f'{name}_normed', text)} * {of(weight)}"
    return Term(to.kept(name, text if bias is None else f"{text} + {of(bias)}"), shape)


def rms_norm(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x / sqrt(mean x^2 + eps) w, over the last axis."""
    del options
    x, sizes = tensor(args[0]), args[1]
    if not isinstance(sizes, list | tuple) or len(sizes) != 1 or args[3] is None:
        raise UnknownError
    mean = f'N.dot({x.text}, {x.text}, "{name}") / {x.text}.shape[-1]'
    return scaled(to, name, f"{x.text} * N.rsqrt({mean} + {of(args[3])})", (args[2], None), shape)


# -- products of matrices


def matmul(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A B; of a softmax and values, their average. Batches that were merged for it are taken apart again."""
    del options
    a, b = tensor(args[0]), tensor(args[1])
    if a.whole is not None and b.whole is not None and a.whole.shape[:-2] == b.whole.shape[:-2]:
        shapes = (*a.whole.shape[:-1], b.whole.shape[-1])
        whole = matmul(to, f"{name}_whole", (a.whole, b.whole), {}, shapes)
        merged = to.set(name, f"{whole.text}.reshaped({', '.join(shape)})")
        return Term(merged, shape, whole=whole)
    if a.weights:
        return Term(to.kept(name, f'N.average({a.weights}, {b.text}, ("{name}_pv", "{name}_row"))'), shape)
    return Term(to.kept(name, f'N.matmul({a.text}, {b.text}, "{name}")'), shape)


def added_matmul(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """bias + A B, whose sums may also start at the bias."""
    if options.get("alpha", 1) != 1 or options.get("beta", 1) != 1:
        raise UnknownError
    bias, a, b = (tensor(one) for one in args[:3])
    return Term(to.kept(name, f'N.matmul({a.text}, {b.text}, "{name}", ({bias.text},))'), shape)


def times_vector(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A x."""
    del options
    a, x = tensor(args[0]), tensor(args[1])
    return Term(to.kept(name, f'N.matmul({a.text}, {x.text}.reshaped(-1, 1), "{name}")[..., 0]'), shape)


def attention(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """softmax(scale q k^T) v, head by head, where torch has it in one operation."""
    q, k, v = (tensor(one) for one in args[:3])
    flags = [one for one in args[3:] if isinstance(one, bool)] or [bool(options.get("is_causal", False))]
    mask, scale = options.get("attn_mask"), options.get("scale")
    factor = f"(1.0 / N.sqrt(N.number({q.text}.shape[-1])))" if scale is None else of(scale)
    scores = to.kept(f"{name}_s", f'N.matmul({q.text}, {k.text}.T, "{name}_qk") * {factor}')
    if isinstance(mask, Term):
        masked = f"N.where({mask.text}, {scores}, -N.inf)" if mask.is_mask else f"{scores} + {mask.text}"
        scores = to.set(f"{name}_masked", masked)
    if flags[0]:
        rows, keys = (to.dims.get(one.shape[-2]) for one in (q, k))
        if rows is None or keys is None:
            raise UnknownError
        seen = f'N.index("{keys}") <= N.index("{rows}", axis=-2)'
        scores = to.set(f"{name}_seen", f"N.where({seen}, {scores}, -N.inf)")
    e = to.kept(f"{name}_e", f"N.exp({scores} - N.shift({scores}))")
    return Term(to.kept(name, f'N.average({e}, {v.text}, ("{name}_pv", "{name}_row"))'), shape)


def running_sum(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Of the last axis."""
    del options
    x = tensor(args[0])
    if axes_of(x, args[1]) != [-1]:
        raise UnknownError
    return Term(to.kept(name, f'N.running_sum({x.text}, "{name}")'), shape)


# -- the same elements elsewhere


def view(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Another shape; where leading dimensions are merged for a product, they are not forgotten."""
    del options
    x = args[0]
    if not isinstance(x, Term):
        raise UnknownError
    if x.shape == shape:
        return x
    if x.whole is not None and x.whole.shape == shape:
        return x.whole
    changed = f"{x.text}.reshape({', '.join(shape)})" if x.is_mask else f"{x.text}.reshaped({', '.join(shape)})"
    made = Term(to.set(name, changed), shape, is_mask=x.is_mask)
    is_merged = len(shape) == 3 < len(x.shape) and x.shape[-2:] == shape[-2:]
    return replace(made, whole=x) if is_merged else made


def same(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A copy."""
    del to, name, options, shape
    if not isinstance(args[0], Term):
        raise UnknownError
    return args[0]


def permute(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The axes in another order."""
    del options
    x, order = tensor(args[0]), args[1]
    if not isinstance(order, list | tuple):
        raise UnknownError
    numbers = tuple(axis % len(shape) for axis in order)
    return Term(to.set(name, f"{x.text}.permuted({numbers})"), shape)


def transpose(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Two axes exchanged: of a matrix those that there are."""
    many = len(shape)
    one, other = (whole_number(axis) % many for axis in args[1:3]) if len(args) > 1 else (0, many - 1)
    order = list(range(many))
    order[one], order[other] = other, one
    return permute(to, name, (args[0], order), options, shape)  # type: ignore[arg-type]  # a list of axes


def unsqueeze(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """An axis more, or less, with one element."""
    return view(to, name, args[:1], options, shape)


def expand(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The same elements many times."""
    del options
    x = tensor(args[0])
    return x if x.shape == shape else Term(to.set(name, f"{x.text}.expanded({', '.join(shape)})"), shape)


def part(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A stretch of one axis."""
    del options
    x = tensor(args[0])
    axis = whole_number(args[1]) if len(args) > 1 else 0
    first, last = (args[place] if len(args) > place else None for place in (2, 3))
    step = whole_number(args[4]) if len(args) > 4 else 1
    if x.shape == shape:
        return x
    begin = "" if first in (None, 0) else of(first)
    end = "" if last is None or (isinstance(last, int) and last >= 2**62) else of(last)
    commas = ", :" * (len(shape) - 1 - axis % len(shape))
    return Term(to.set(name, f"{x.text}[..., {begin}:{end}:{step}{commas}]"), shape)


def select(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One place of an axis."""
    del options
    x = tensor(args[0])
    many = len(x.shape)
    commas = ", :" * (many - 1 - whole_number(args[1]) % many)
    return Term(to.set(name, f"{x.text}[..., {of(args[2])}{commas}]"), shape)


def join(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Tensors one beside the other along the last axis."""
    del options
    every, axis = args[0], whole_number(args[1]) if len(args) > 1 else 0
    if not isinstance(every, list | tuple) or axis % len(shape) != len(shape) - 1:
        raise UnknownError
    text = of(tensor(every[0]))
    for one in every[1:]:
        text = f"N.join({text}, {of(tensor(one))})"
    return Term(to.set(name, text), shape)


def full(value: float | None) -> Writing:
    """A tensor of one number; None where that is the second operand."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        number = of(args[1]) if value is None else repr(value)
        if options.get("dtype") == "bool":
            sizes = "".join(f"{size}, " for size in shape)
            return Term(to.set(name, f"np.full(({sizes}), {number}, bool)"), shape, is_mask=True)
        return Term(to.set(name, f"N.number({number}).expanded({', '.join(shape)})"), shape)

    return rule


# -- masks


def triangle(sign: str) -> Writing:
    """The mask of what lies on one side of a diagonal; of a mask of ones it is all of it."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        x = args[0]
        rows, cols = to.dims.get(shape[-2]), to.dims.get(shape[-1])
        if not isinstance(x, Term) or rows is None or cols is None:
            raise UnknownError
        diagonal = whole_number(args[1]) if len(args) > 1 else 0
        inside = f'(N.index("{cols}") - N.index("{rows}", axis=-2) {sign} {diagonal})'
        if x.is_mask:
            return Term(to.set(name, f"{x.text} & {inside}"), shape, is_mask=True)
        return Term(to.set(name, f"N.where({inside}, {x.text}, 0.0)"), shape)

    return rule


def places(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """0, 1, ... along a dimension."""
    del args, options
    if shape[0] not in to.dims:
        raise UnknownError
    return Term(to.set(name, f'N.index("{to.dims[shape[0]]}")'), shape, is_mask=True)


def compared(template: str) -> Writing:
    """A mask of masks, or of integers."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        if not all(one.is_mask for one in args if isinstance(one, Term)):
            raise UnknownError
        return Term(to.set(name, template.format(*map(of, args))), shape, is_mask=True)

    return rule


def chosen(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One or the other, by a mask."""
    del options
    mask, one, other = args
    if not isinstance(mask, Term) or not mask.is_mask:
        raise UnknownError
    return Term(to.set(name, f"N.where({mask.text}, {of(one)}, {of(other)})"), shape)


def filled(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A number where a mask holds."""
    return chosen(to, name, (args[1], args[2], args[0]), options, shape)


COPIES = ("clone", "detach", "alias", "contiguous", "lift_fresh_copy", "_to_copy", "dropout", "lift_fresh", "positive")
VIEWS = ("view", "_unsafe_view", "reshape", "squeeze", "_reshape_alias")
ATTENTIONS = ("flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention")

RULES: dict[str, Writing] = {
    "add": each("{0} + {1}"),
    "sub": each("{0} - {1}"),
    "rsub": each("{1} - {0}"),
    "mul": product,
    "div": each("{0} / {1}"),
    "neg": each("-{0}"),
    "exp": each("N.exp({0})"),
    "log": each("N.log({0})"),
    "sqrt": each("N.sqrt({0})"),
    "rsqrt": each("N.rsqrt({0})"),
    "reciprocal": each("1.0 / {0}"),
    "tanh": each("N.tanh({0})"),
    "erf": each("N.erf({0})"),
    "sigmoid": each("N.sigmoid({0})"),
    "abs": each("abs({0})"),
    "relu": each("N.maximum({0}, 0.0)"),
    "maximum": each("N.maximum({0}, {1})"),
    "minimum": each("N.minimum({0}, {1})"),
    "pow": power,
    "clamp": clamp,
    "clamp_min": clamp,
    "gelu": gelu,
    "silu": silu,
    "_softmax": softmax,
    "_safe_softmax": safe_softmax,
    "_log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "sum": reduction(SUM),
    "mean": reduction(MEAN),
    "amax": reduction("N.max({x}, axis={axis})"),
    "max": reduction("N.max({x}, axis={axis})"),
    "amin": reduction("-N.max(-{x}, axis={axis})"),
    "min": reduction("-N.max(-{x}, axis={axis})"),
    "var": variance,
    "std": deviation,
    "native_layer_norm": layer_norm,
    "_fused_rms_norm": rms_norm,
    "mm": matmul,
    "bmm": matmul,
    "mv": times_vector,
    "addmm": added_matmul,
    "baddbmm": added_matmul,
    "cumsum": running_sum,
    "permute": permute,
    "transpose": transpose,
    "t": transpose,
    "unsqueeze": unsqueeze,
    "expand": expand,
    "slice": part,
    "select": select,
    "cat": join,
    "full": full(None),
    "ones": full(1.0),
    "zeros": full(0.0),
    "full_like": full(None),
    "ones_like": full(1.0),
    "zeros_like": full(0.0),
    "triu": triangle(">="),
    "tril": triangle("<="),
    "arange": places,
    "le": compared("({0} <= {1})"),
    "lt": compared("({0} < {1})"),
    "ge": compared("({0} >= {1})"),
    "gt": compared("({0} > {1})"),
    "eq": compared("({0} == {1})"),
    "bitwise_and": compared("({0} & {1})"),
    "logical_and": compared("({0} & {1})"),
    "logical_not": compared("~{0}"),
    "bitwise_not": compared("~{0}"),
    "where": chosen,
    "masked_fill": filled,
    **dict.fromkeys(COPIES, same),
    **dict.fromkeys(VIEWS, view),
    **{f"_scaled_dot_product_{kind}": attention for kind in ATTENTIONS},
}
"""By the name without `aten.`, its overload, and the underscore of what works in place."""


def written(
    to: Writer, op: str, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts
) -> Term | None:
    """One operation as lines of the formula; None, and `N.unknown` in its place, where the table does not have it."""
    rule = RULES.get(op) or RULES.get(op.removesuffix("_"))
    try:
        if rule is None:
            raise UnknownError
        return rule(to, name, args, options, shape)
    except (UnknownError, IndexError, TypeError, ValueError, AttributeError):
        return None


__all__ = ["RULES", "Arg", "Term", "Writer", "written"]

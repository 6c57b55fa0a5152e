"""Operations along axes: sums, means and extremes, softmaxes, variances, norms, and running sums."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    Text,
    UnknownError,
    Writer,
    Writing,
    WritingOne,
    tensor,
    text_of,
    whole_number,
)


def axes_of(x: Term, said: object) -> list[int]:
    """Axes, counted from the end; all axes if none is given."""
    every = [said] if isinstance(said, int) else list(said) if isinstance(said, list | tuple) else []
    many = len(x.shape)
    return sorted({axis % many - many for axis in every}) or list(range(-many, 0))


def merge_axes(to: Writer, name: str, x: Term, axes: list[int]) -> tuple[Text, int]:
    """The tensor with all these axes merged into one, and its place: a sum over two axes may add in any order."""
    many = len(x.shape)
    if len(axes) == 1:
        return x.text, axes[0]
    others = [axis for axis in range(-many, 0) if axis not in axes]
    order = tuple(axis % many for axis in (*others, *axes))
    moved = x.text if order == tuple(range(many)) else f"{x.text}.permuted({order})"
    rest = "".join(f"{x.shape[axis]}, " for axis in others)
    return to.set(f"{name}_in_one", f"{moved}.reshaped({rest}-1)"), -1


def drop_axis(text: Text, axis: int) -> Text:
    """A tensor without the axis of one element that a reduction leaves."""
    return f"{text}[..., 0{', :' * (-axis - 1)}]"


def reduction(word: str) -> WritingOne:
    """A reduction over axes; `word` makes it of the tensor, its name and the axis."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        x = tensor(args[0])
        said: object = args[1] if len(args) > 1 else options.get("dim")
        axes = axes_of(x, said)
        inside, axis = merge_axes(to, name, x, axes)
        square = x.square if len(axes) == 1 else ""
        text = of_squares(word, square, name, axis) if square else word.format(x=inside, name=name, axis=axis)
        return finish_reduction(to, name, text, shape, len(x.shape), len(axes), axis)

    return rule


def of_squares(word: str, square: Text, name: str, axis: int) -> Text:
    """A sum or a mean of squares, whose products may be contracted into it."""
    if word == SUM:
        return f'N.dot({square}, {square}, "{name}", axis={axis})'
    if word == MEAN:
        return f'N.dot({square}, {square}, "{name}", axis={axis}) / {square}.shape[{axis}]'
    return word.format(x=f"({square} * {square})", name=name, axis=axis)


def finish_reduction(to: Writer, name: str, text: Text, shape: SizeTexts, before: int, reduced: int, axis: int) -> Term:
    """The result of a reduction, in the shape that the reference gives it."""
    if reduced > 1:
        inside = to.keep(name, drop_axis(text if text.startswith("N.") else f"({text})", axis))
        spread = ", ".join(shape)
        return Term(to.set(f"{name}_shaped", f"{inside}.reshaped({spread})") if len(shape) == before else inside, shape)
    bracketed = text if text.startswith("N.") and " / " not in text else f"({text})"
    return Term(to.keep(name, text if len(shape) == before else drop_axis(bracketed, axis)), shape)


SUM = 'N.sum({x}, "{name}", axis={axis})'
MEAN = 'N.mean({x}, "{name}", axis={axis})'


def softmax(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """exp(x - m) / sum exp(x - m)."""
    del options
    x = tensor(args[0])
    axis = axes_of(x, args[1])[0]
    e = to.keep(f"{name}_e", f"N.exp({x.text} - N.shift({x.text}, axis={axis}))")
    text = to.keep(name, f'{e} / N.sum({e}, "{name}", axis={axis})')
    return Term(text, shape, weights=e if axis == -1 else "")


def safe_softmax(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A softmax whose rows of nothing but -inf are zero."""
    to.all_masked = to.all_masked or "zero"
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
    return Term(to.keep(name, text), shape)


def logsumexp(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """m + log sum exp(x - m)."""
    x = tensor(args[0])
    axes = axes_of(x, args[1] if len(args) > 1 else options.get("dim"))
    inside, axis = merge_axes(to, name, x, axes)
    m = to.set(f"{name}_m", f"N.shift({inside}, axis={axis})")
    below = to.step(f"{name}_below", f"{inside} - {m}")
    e = to.step(f"{name}_e", f"N.exp({below})")
    total = to.step(f"{name}_s", f'N.sum({e}, "{name}", axis={axis})')
    log = to.step(f"{name}_log", f"N.log({total})")
    text = f"({m} + {log})"
    return finish_reduction(to, name, text, shape, len(x.shape), len(axes), axis)


def variance(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The variance, by any of the usual algorithms."""
    x = tensor(args[0])
    axes = axes_of(x, args[1] if len(args) > 1 else options.get("dim"))
    correction = options.get("correction")
    _, var = moments(to, name, x, axes, 1 if correction is None else whole_number(correction))
    return finish_reduction(to, name, var, shape, len(x.shape), max(len(axes), 1), -1)


def moments(to: Writer, name: str, x: Term, axes: list[int], correction: int) -> tuple[Text, Text]:
    """The mean and the variance over the last axes, merged into one."""
    if axes != list(range(-len(axes), 0)):
        raise UnknownError
    inside, _ = merge_axes(to, name, x, axes)
    to.forms["moments"] = ("two pass", "welford", "moments")
    both = f'N.mean_var({inside}, ("{name}_mean", "{name}_var"), {correction})'
    pair = to.set(f"{name}_both", both)
    return f"{pair}[0]", f"{pair}[1]"


def deviation(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The root of the variance."""
    made = variance(to, f"{name}_squared", args, options, shape)
    return Term(to.keep(name, f"N.sqrt({made.text})"), shape)


def length(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The root of the sum of squares."""
    x, order = tensor(args[0]), args[1] if len(args) > 1 else 2
    axes = args[2] if len(args) > 2 else None
    if order == 1:
        sizes = Term(to.set(f"{name}_sizes", f"abs({x.text})"), x.shape)
        return reduction(SUM)(to, name, (sizes, axes), options, shape)
    if order != 2:
        raise UnknownError
    squared = Term(to.set(f"{name}_each", f"{x.text} * {x.text}"), x.shape, square=x.text)
    made = reduction(SUM)(to, f"{name}_squared", (squared, axes), options, shape)
    return Term(to.keep(name, f"N.sqrt({made.text})"), shape)


def running(word: str) -> Writing:
    """A running sum or product along an axis."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        x = tensor(args[0])
        many, axis = len(shape), axes_of(x, args[1])[0] % len(shape)
        order = (*(one for one in range(many) if one != axis), axis)
        back = tuple(order.index(one) for one in range(many))
        is_last = axis == many - 1
        inside = x.text if is_last else f"{x.text}.permuted({order})"
        text = f'N.{word}({inside}, "{name}")'
        return Term(to.keep(name, text if is_last else f"{text}.permuted({back})"), shape)

    return rule


def place_of(sign: str) -> WritingOne:
    """The place of the maximum, or of the minimum, along an axis, or in the whole tensor."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        x, said = tensor(args[0]), args[1] if len(args) > 1 else options.get("dim")
        if said is None:
            inside, axis = f"{x.text}.reshaped(-1)", -1
        else:
            inside, axis = x.text, axes_of(x, said)[0]
        text = f"N.places({sign}{with_last(inside, len(x.shape) if said is not None else 1, axis)})"
        to.ties[name] = "first"  # torch documents it
        return Term(to.set(name, text), shape, is_place=True)

    return rule


def with_last(text: Text, many: int, axis: int) -> Text:
    """A tensor with an axis, counted from the end, moved to the end."""
    if axis == -1:
        return text
    order = (*(one for one in range(many) if one != axis % many), axis % many)
    return f"{text}.permuted({order})"


def extreme(word: str, sign: str) -> Writing:
    """The maximum or the minimum: of a tensor along all axes, or along one with its places, or of two tensors."""

    def rule(
        to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts
    ) -> Term | list[Term]:
        if len(args) > 1 and isinstance(args[1], Term):
            return Term(
                to.keep(name, f"N.{'minimum' if sign else 'maximum'}({text_of(args[0])}, {args[1].text})"), shape
            )
        made = reduction(word)(to, name, args, options, shape)
        if len(args) < 2:
            return made
        return [made, place_of(sign)(to, f"{name}_at", args[:2], options, shape)]

    return rule


def ranked(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """sort(x, axis, descending), or with these by name: the values of the last axis; the places are unknown."""
    x = tensor(args[0])
    axis, descending = args[1:3] if len(args) > 2 else (options.get("dim", -1), options.get("descending", False))
    if axes_of(x, axis) != [-1]:
        raise UnknownError
    sign = "-" if descending else ""
    return Term(to.set(name, f"{sign}{to.use('in_order')}(N, {sign}{x.text})"), shape)


def greatest(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """topk(x, k, axis, largest, sorted): the values of the last axis; torch leaves the places of equal ones open."""
    x, many = tensor(args[0]), text_of(args[1])
    usual: dict[str, Arg] = {"dim": -1, "largest": True, "sorted": True}
    said = usual | options | dict(zip(usual, args[2:], strict=False))
    if axes_of(x, said["dim"]) != [-1] or not said["sorted"]:
        raise UnknownError
    sign = "-" if said["largest"] else ""
    return Term(to.set(name, f"{sign}{to.use('in_order')}(N, {sign}{x.text})[..., :{many}]"), shape)

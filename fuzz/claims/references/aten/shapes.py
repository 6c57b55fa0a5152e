"""Operations that compute nothing: the same elements in another shape or place, and tensors of one number."""

from collections.abc import Sequence
from dataclasses import replace

from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    Text,
    UnknownError,
    Writer,
    Writing,
    movable,
    number_of,
    places_along,
    tensor,
    text_of,
    whole_number,
)


def view(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Another shape; it keeps the leading dimensions that are merged for a product."""
    del options
    x = args[0]
    if not isinstance(x, Term):
        raise UnknownError
    if x.shape == shape or x.is_place:
        return replace(x, shape=shape)
    if x.whole is not None and x.whole.shape == shape:
        return x.whole
    changed = f"{x.text}.reshape({', '.join(shape)})" if x.is_mask else f"{x.text}.reshaped({', '.join(shape)})"
    made = Term(to.set(name, changed), shape, is_mask=x.is_mask)
    is_merged = len(shape) == 3 < len(x.shape) and x.shape[-2:] == shape[-2:]
    return replace(made, whole=x) if is_merged else made


def same(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A copy; of integers and truths that become numbers, these numbers."""
    x = args[0]
    if not isinstance(x, Term):
        raise UnknownError
    if x.is_mask and str(options.get("dtype", "")).startswith(("float", "double", "half", "bfloat")):
        return Term(to.set(name, number_of(x)), shape)
    return x


def copied(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """copy(x, y): y in the shape of x, whose numbers are gone."""
    made = same(to, f"{name}_from", args[1:], {"dtype": "float", **options}, shape)
    return expand(to, name, (made,), {}, shape)


def permute(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The axes in another order."""
    del options
    x, order = movable(args[0]), args[1]
    if not isinstance(order, list | tuple):
        raise UnknownError
    return permute_axes(to, name, x, [axis % len(shape) for axis in order], shape)


def permute_axes(to: Writer, name: str, x: Term, order: Sequence[int], shape: SizeTexts) -> Term:
    """The axes of a tensor in this order."""
    how = "transpose" if x.is_mask else "permuted"
    return Term(to.set(name, f"{x.text}.{how}({tuple(order)})"), shape, is_mask=x.is_mask)


def transpose(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Two axes exchanged; for a matrix its only two."""
    del options
    many = len(shape)
    one, other = (whole_number(axis) % many for axis in args[1:3]) if len(args) > 1 else (0, many - 1)
    order = list(range(many))
    order[one], order[other] = other, one
    return permute_axes(to, name, movable(args[0]), order, shape)


def unsqueeze(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One more axis of one element, or one fewer."""
    return view(to, name, args[:1], options, shape)


def expand(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The same elements many times."""
    del options
    x, sizes = movable(args[0]), ", ".join(shape)
    if x.shape == shape:
        return x
    text = f"np.broadcast_to({x.text}, ({sizes},))" if x.is_mask else f"{x.text}.expanded({sizes})"
    return Term(to.set(name, text), shape, is_mask=x.is_mask)


def part(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A stretch of one axis."""
    del options
    x = movable(args[0])
    axis = whole_number(args[1]) if len(args) > 1 else 0
    first, last = (args[place] if len(args) > place else None for place in (2, 3))
    step = whole_number(args[4]) if len(args) > 4 else 1
    if x.shape == shape:
        return x
    begin = "" if first in (None, 0) else text_of(first)
    end = "" if last is None or (isinstance(last, int) and last >= 2**62) else text_of(last)
    commas = ", :" * (len(shape) - 1 - axis % len(shape))
    return Term(to.set(name, f"{x.text}[..., {begin}:{end}:{step}{commas}]"), shape, is_mask=x.is_mask)


def select(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One place of an axis."""
    del options
    x = movable(args[0])
    many = len(x.shape)
    commas = ", :" * (many - 1 - whole_number(args[1]) % many)
    return Term(to.set(name, f"{x.text}[..., {text_of(args[2])}{commas}]"), shape, is_mask=x.is_mask)


def join(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Tensors one beside the other along an axis."""
    del options
    every, axis = args[0], whole_number(args[1]) if len(args) > 1 else 0
    if not isinstance(every, list | tuple):
        raise UnknownError
    tensors = [one for one in map(tensor, every) if one.shape != ("0",)]  # torch joins an empty one to anything
    return Term(to.set(name, joined([one.text for one in tensors], axis % len(shape) - len(shape))), shape)


def joined(texts: Sequence[Text], axis: int) -> Text:
    """Texts of tensors that lie one beside the other along an axis, which is counted from the end."""
    along = "" if axis == -1 else f", axis={axis}"
    return texts[0] if len(texts) == 1 else f"N.join({', '.join(texts)}{along})"


def stack(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Tensors one beside the other along a new axis."""
    del options
    every, axis = args[0], (whole_number(args[1]) if len(args) > 1 else 0) % len(shape) - len(shape)
    if not isinstance(every, list | tuple):
        raise UnknownError
    place = f"[..., None{', :' * (-axis - 1)}]"
    return Term(to.set(name, joined([f"{tensor(one).text}{place}" for one in every], axis)), shape)


def split(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> list[Term]:
    """The stretches of an axis, of one length or of lengths that are listed."""
    x, lengths, sizes = tensor(args[0]), args[1], options["results"]
    axis = whole_number(args[2]) if len(args) > 2 else 0
    commas = ", :" * (len(x.shape) - 1 - axis % len(x.shape))
    if not isinstance(sizes, list | tuple):
        raise UnknownError
    every = list(lengths) if isinstance(lengths, list | tuple) else [lengths] * len(sizes)
    made, begin = [], ""
    for number, (one, size) in enumerate(zip(every, sizes, strict=True)):
        end = f"{begin} + {text_of(one)}" if begin else text_of(one)
        made.append(Term(to.set(f"{name}_{number}", f"{x.text}[..., {begin}:{end}{commas}]"), size))
        begin = end
    return made


def unbind(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> list[Term]:
    """Each place of an axis."""
    x, axis = tensor(args[0]), whole_number(args[1]) if len(args) > 1 else 0
    commas = ", :" * (len(x.shape) - 1 - axis % len(x.shape))
    sizes = options["results"]
    if not isinstance(sizes, list | tuple):
        raise UnknownError
    return [Term(to.set(f"{name}_{n}", f"{x.text}[..., {n}{commas}]"), size) for n, size in enumerate(sizes)]


def flip(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The elements of some axes in the opposite order."""
    del options
    x, axes = tensor(args[0]), args[1]
    if not isinstance(axes, list | tuple):
        raise UnknownError
    turned = {whole_number(axis) % len(shape) for axis in axes}
    return Term(
        to.set(name, f"{x.text}[{', '.join('::-1' if d in turned else ':' for d in range(len(shape)))}]"), shape
    )


def roll(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The elements of an axis moved on; those that fall out come in at its beginning."""
    del options
    x, shifts, axes = tensor(args[0]), args[1], args[2] if len(args) > 2 else None
    if not isinstance(shifts, list | tuple) or not isinstance(axes, list | tuple) or len(axes) != len(shifts):
        raise UnknownError
    text = x.text
    for number, (shift, axis) in enumerate(zip(shifts, axes, strict=True)):
        many = len(shape) - 1 - whole_number(axis) % len(shape)
        cut, commas = f"-({text_of(shift)}) % {shape[whole_number(axis)]}", ", :" * many
        parts = [f"{text}[..., {cut}:{commas}]", f"{text}[..., :{cut}{commas}]"]
        text = to.set(f"{name}_{number}", joined(parts, -many - 1))
    return Term(text, shape)


def repeat(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The whole tensor many times along each axis."""
    del options
    x, times = tensor(args[0]), args[1]
    if not isinstance(times, list | tuple):
        raise UnknownError
    sizes = ("1",) * (len(times) - len(x.shape)) + x.shape
    ones = ", ".join(f"1, {size}" for size in sizes)
    every = ", ".join(f"{text_of(n)}, {size}" for n, size in zip(times, sizes, strict=True))
    return Term(to.set(name, f"{x.text}.reshaped({ones}).expanded({every}).reshaped({', '.join(shape)})"), shape)


def padded(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """More elements of one number at the ends of the last axes; a negative number takes elements away."""
    del options
    x, said = tensor(args[0]), args[1]
    if not isinstance(said, list | tuple):
        raise UnknownError
    ends = [whole_number(one) for one in said]
    pairs = tuple(zip(ends[-2::-2], ends[::-2], strict=True))
    fill = args[2] if len(args) > 2 else 0.0
    return Term(to.set(name, f"N.padded({x.text}, {pairs}, {text_of(fill)})"), shape)


def nearest_up(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Each element many times along the last axes: the nearest neighbour of a size that is a multiple of its own."""
    del options
    x = tensor(args[0])
    many = len(shape) - 2
    places = [
        f"np.arange({new}) * {old} // ({new}){'[:, None]' if axis < many - 1 else ''}"
        for axis, (new, old) in enumerate(zip(shape[2:], x.shape[2:], strict=True))
    ]
    factors = [whole_number(int(one)) for one in args[-many:] if isinstance(one, float) and one == int(one)]
    if len(factors) != many or many > 2:
        raise UnknownError
    to.set(f"{name}_np", "np")
    return Term(to.set(name, f"{x.text}[..., {', '.join(places)}]"), shape)


def take(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """index_select(x, axis, index): the places of an axis that an index names."""
    del options
    x, axis, index = tensor(args[0]), whole_number(args[1]), args[2]
    commas = ", :" * (len(x.shape) - 1 - axis % len(x.shape))
    return Term(to.set(name, f"{x.text}[..., {index_of(index)}{commas}]"), shape)


def embedding(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """embedding(w, index): the rows that an index names."""
    del options
    return Term(to.set(name, f"{tensor(args[0]).text}[{index_of(args[1])}]"), shape)


def gather(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """gather(x, axis, index): along an axis the places that an index of the answer's shape names."""
    del options
    x, axis, index = movable(args[0]), whole_number(args[1]) % len(shape) - len(shape), index_of(args[2])
    cut = ", ".join(":" if place == axis % len(shape) else f":{size}" for place, size in enumerate(shape))
    how = "np.take_along_axis" if x.is_mask else "N.take"
    return Term(to.set(name, f"{how}({x.text}[{cut}], {index}, axis={axis})"), shape, is_mask=x.is_mask)


def pick(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x[i, j]: the places that tensors of integers name, which have the answer's shape together."""
    del options
    x, every = movable(args[0]), args[1]
    if not isinstance(every, list | tuple):
        raise UnknownError
    return Term(to.set(name, f"{x.text}[{', '.join(map(index_of, every))}]"), shape, is_mask=x.is_mask)


def index_of(operand: Arg) -> Text:
    """A tensor of integers."""
    if not isinstance(operand, Term) or not operand.is_mask:
        raise UnknownError
    return operand.text


def diagonal(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """diag_embed(x): a matrix with these numbers on its diagonal."""
    if options.get("offset", args[1] if len(args) > 1 else 0) != 0 or len(args) > 2:
        raise UnknownError
    same = f"{places_along(to, shape[-1])} == {places_along(to, shape[-1], -2)}"
    return Term(to.set(name, f"N.where({same}, {tensor(args[0]).text}[..., None], 0.0)"), shape)


def full(value: float | None, place: int = 1) -> Writing:
    """A tensor of one number; None if the number is the operand at a place."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        number = text_of(args[place]) if value is None else repr(value)
        if options.get("dtype") in ("bool", "int"):
            sizes = "".join(f"{size}, " for size in shape)
            return Term(to.set(name, f"np.full(({sizes}), {number}, {options['dtype']})"), shape, is_mask=True)
        one = f"N.number({number})"
        return Term(to.set(name, f"{one}.expanded({', '.join(shape)})" if shape else one), shape)

    return rule

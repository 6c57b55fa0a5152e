"""Operations that compute nothing: the same elements in another shape or place, and tensors of one number."""

from collections.abc import Sequence
from dataclasses import replace

from kfuzz.callables.aten.term import Arg, SizeTexts, Term, UnknownError, Writer, Writing, tensor, text_of, whole_number


def view(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Another shape; it keeps the leading dimensions that are merged for a product."""
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
    return permute_axes(to, name, x, [axis % len(shape) for axis in order], shape)


def permute_axes(to: Writer, name: str, x: Term, order: Sequence[int], shape: SizeTexts) -> Term:
    """The axes of a tensor in this order."""
    return Term(to.set(name, f"{x.text}.permuted({tuple(order)})"), shape)


def transpose(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Two axes exchanged; for a matrix its only two."""
    del options
    many = len(shape)
    one, other = (whole_number(axis) % many for axis in args[1:3]) if len(args) > 1 else (0, many - 1)
    order = list(range(many))
    order[one], order[other] = other, one
    return permute_axes(to, name, tensor(args[0]), order, shape)


def unsqueeze(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One more axis of one element, or one fewer."""
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
    begin = "" if first in (None, 0) else text_of(first)
    end = "" if last is None or (isinstance(last, int) and last >= 2**62) else text_of(last)
    commas = ", :" * (len(shape) - 1 - axis % len(shape))
    return Term(to.set(name, f"{x.text}[..., {begin}:{end}:{step}{commas}]"), shape)


def select(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One place of an axis."""
    del options
    x = tensor(args[0])
    many = len(x.shape)
    commas = ", :" * (many - 1 - whole_number(args[1]) % many)
    return Term(to.set(name, f"{x.text}[..., {text_of(args[2])}{commas}]"), shape)


def join(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Tensors one beside the other along the last axis."""
    del options
    every, axis = args[0], whole_number(args[1]) if len(args) > 1 else 0
    if not isinstance(every, list | tuple) or axis % len(shape) != len(shape) - 1:
        raise UnknownError
    text = text_of(tensor(every[0]))
    for one in every[1:]:
        text = f"N.join({text}, {text_of(tensor(one))})"
    return Term(to.set(name, text), shape)


def full(value: float | None) -> Writing:
    """A tensor of one number; None if the number is the second operand."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        number = text_of(args[1]) if value is None else repr(value)
        if options.get("dtype") == "bool":
            sizes = "".join(f"{size}, " for size in shape)
            return Term(to.set(name, f"np.full(({sizes}), {number}, bool)"), shape, is_mask=True)
        return Term(to.set(name, f"N.number({number}).expanded({', '.join(shape)})"), shape)

    return rule

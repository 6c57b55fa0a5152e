"""Operations that slide a window: convolutions, pools, and the parts of an adaptive pool."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    Text,
    UnknownError,
    Writer,
    Writing,
    tensor,
    whole_number,
)


def numbers(said: object, count: int, usual: int = 0) -> Text:
    """A number for each axis, as the text of a tuple; one number, or none, may stand for all."""
    every = [said] if isinstance(said, int) else list(said) if isinstance(said, list | tuple) else []
    every = [whole_number(one) for one in every] or [usual]
    every = every * count if len(every) == 1 else every
    if len(every) != count:
        raise UnknownError
    return f"({''.join(f'{one}, ' for one in every)})"


def convolution(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The sum of x w over channels and window, whose sums may start at the bias."""
    del options
    x, w, bias = tensor(args[0]), tensor(args[1]), args[2]
    stride, pad, dilation, output_pad = (numbers(args[place], len(shape) - 2) for place in (3, 4, 5, 7))
    groups = whole_number(args[8])
    start = tensor(bias).text if bias is not None else "None"
    if args[6]:
        how = f"{stride}, {pad}, {dilation}, {output_pad}, {groups}"
        text = f'{to.use("conv_transposed")}(N, {x.text}, {w.text}, {start}, {how}, "{name}")'
    else:
        how = f"{stride}, {pad}, {dilation}, {groups}"
        text = f'{to.use("conv")}(N, {x.text}, {w.text}, {start}, {how}, "{name}")'
    return Term(to.keep(name, text), shape)


def option_of(args: Sequence[Arg], place: int, usual: object) -> object:
    """An option by its place, or the usual one if it is not there."""
    said: object = args[place] if len(args) > place else usual
    return usual if said == [] else said


def max_pool(count: int) -> Writing:
    """The maximum of each window, with its place; beyond an end is -inf."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> list[Term]:
        del options
        x, window = tensor(args[0]), numbers(args[1], count)
        stride = numbers(option_of(args, 2, args[1]), count)
        pad, dilation = numbers(option_of(args, 3, 0), count), numbers(option_of(args, 4, 1), count)
        ceil = bool(option_of(args, 5, False))
        seen = to.set(
            f"{name}_seen", f"{to.use('pool')}(N, {x.text}, -N.inf, {window}, {stride}, {pad}, {dilation}, {ceil})[0]"
        )
        most = Term(to.keep(name, f"N.max({seen})[..., 0]"), shape)
        if ceil:
            return [most]
        names = f"{to.use('pool_names')}({x.text}.shape[-{count}:], {window}, {stride}, {pad}, {dilation})"
        to.ties[f"{name}_at"] = "any"  # torch does not say which
        return [most, Term(to.set(f"{name}_at", f"N.places({seen}, {names})"), shape, is_place=True)]

    return rule


def avg_pool(count: int) -> Writing:
    """The mean of each window; zeros beyond an end are counted, or not, or another number divides."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        x, window = tensor(args[0]), numbers(args[1], count)
        stride, pad = numbers(option_of(args, 2, args[1]), count), numbers(option_of(args, 3, 0), count)
        ceil, counts_pad = bool(option_of(args, 4, False)), bool(option_of(args, 5, True))
        how = f"{window}, {stride}, {pad}, {numbers(1, count)}"
        both = to.set(f"{name}_both", f'{to.use("pool")}(N, {x.text}, "absent", {how}, {ceil})')
        total = f'N.sum({both}[0], "{name}")[..., 0]'
        if (divisor := option_of(args, 6, None)) is not None:
            return Term(to.keep(name, f"{total} / {whole_number(divisor)}"), shape)  # type: ignore[arg-type]
        if counts_pad:
            return Term(to.keep(name, f"{total} / N.input({both}[1])"), shape)
        if ceil:
            raise UnknownError
        names = f"{to.use('pool_names')}({x.text}.shape[-{count}:], {how})"
        return Term(to.keep(name, f"{total} / N.input(({names} >= 0).sum(axis=-1))"), shape)

    return rule


def adaptive_avg_pool(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """The mean of each of so many parts of an axis."""
    del options
    x, outs = tensor(args[0]), args[1]
    if not isinstance(outs, list | tuple):
        raise UnknownError
    both = to.set(f"{name}_both", f"{to.use('adaptive_parts')}(N, {x.text}, 0.0, {numbers(outs, len(outs))})")
    return Term(to.keep(name, f'N.sum({both}[0], "{name}")[..., 0] / N.input({both}[1])'), shape)


def adaptive_max_pool(
    to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts
) -> list[Term]:
    """The maximum of each of so many parts of an axis, with its place."""
    del options
    x, outs = tensor(args[0]), args[1]
    if not isinstance(outs, list | tuple):
        raise UnknownError
    parts = numbers(outs, len(outs))
    seen = to.set(f"{name}_seen", f"{to.use('adaptive_parts')}(N, {x.text}, -N.inf, {parts})[0]")
    names = f"{to.use('adaptive_places')}({x.text}.shape[-{len(outs)}:], {parts})"
    to.ties[f"{name}_at"] = "any"
    at = Term(to.set(f"{name}_at", f"N.places({seen}, {names})"), shape, is_place=True)
    return [Term(to.keep(name, f"N.max({seen})[..., 0]"), shape), at]


def unfold(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """Windows of one axis, each along a new last axis."""
    del options
    x, axis, size, step = tensor(args[0]), *(whole_number(one) for one in args[1:4])
    many = len(x.shape)
    axis %= many
    order = (*(one for one in range(many) if one != axis), axis)
    back = (*order[:-1][:axis], many - 1, *order[:-1][axis:])
    back = (*range(axis), many - 1, *range(axis, many - 1), many)
    return Term(to.set(name, f"N.windows({x.text}.permuted({order}), ({size},), ({step},)).permuted({back})"), shape)

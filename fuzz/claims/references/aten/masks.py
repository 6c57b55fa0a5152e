"""Operations that make a mask, of places or of other masks, and those that choose by one."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    UnknownError,
    Writer,
    Writing,
    places_along,
    text_of,
    whole_number,
)


def triangle(sign: str) -> Writing:
    """The elements on one side of a diagonal, of a tensor or of a mask."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        x = args[0]
        if not isinstance(x, Term):
            raise UnknownError
        diagonal = whole_number(args[1]) if len(args) > 1 else 0
        inside = f"({places_along(to, shape[-1])} - {places_along(to, shape[-2], -2)} {sign} {diagonal})"
        if x.is_mask:
            return Term(to.set(name, f"{x.text} & {inside}"), shape, is_mask=True)
        return Term(to.set(name, f"N.where({inside}, {x.text}, 0.0)"), shape)

    return rule


def places(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """arange(end) or arange(start, end): whole numbers one after the other."""
    if len(args) > 2 or options.get("dtype") != "int":
        raise UnknownError
    first = f"{text_of(args[0])} + " if len(args) > 1 else ""
    return Term(to.set(name, f"{first}{places_along(to, shape[0])}"), shape, is_mask=True)


def comparison(template: str) -> Writing:
    """A mask of masks, or of integers."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        if not all(one.is_mask for one in args if isinstance(one, Term)):
            raise UnknownError
        return Term(to.set(name, template.format(*map(text_of, args))), shape, is_mask=True)

    return rule


def choice(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """One or the other, by a mask."""
    del options
    mask, one, other = args
    if not isinstance(mask, Term) or not mask.is_mask:
        raise UnknownError
    return Term(to.set(name, f"N.where({mask.text}, {text_of(one)}, {text_of(other)})"), shape)


def masked_fill(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A number where a mask holds."""
    return choice(to, name, (args[1], args[2], args[0]), options, shape)

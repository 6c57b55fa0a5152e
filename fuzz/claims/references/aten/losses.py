"""Losses, each element by element and then added, averaged or left as it is."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.elementwise import SOFTPLUS
from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    Text,
    UnknownError,
    Writer,
    Writing,
    WritingOne,
    number_of,
    tensor,
    text_of,
)

NONE, MEAN, SUM = 0, 1, 2


def reduced(to: Writer, name: str, text: Text, like: SizeTexts, how: object, shape: SizeTexts) -> Term:
    """The loss of each element, or their mean or sum."""
    if how == NONE:
        return Term(to.keep(name, text), shape)
    word = "N.mean" if how == MEAN else "N.sum"
    flat = f"({text}).reshaped(-1)" if len(like) != 1 else f"({text})"
    return Term(to.keep(name, f'{word}({flat}, "{name}")[..., 0]'), shape)


def loss(template: str, usual: float = 1.0) -> Writing:
    """A loss of two tensors: `{d}` is their difference, and `{beta}` an option."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        x, target = tensor(args[0]), tensor(args[1])
        if x.shape != target.shape:
            raise UnknownError
        beta = args[3] if len(args) > 3 else options.get("beta", options.get("delta", usual))
        difference = to.set(f"{name}_d", f"{x.text} - {target.text}")
        text = template.format(d=difference, x=x.text, t=target.text, beta=text_of(beta))
        return reduced(to, name, text, x.shape, args[2] if len(args) > 2 else MEAN, shape)

    return rule


SQUARED = "{d} * {d}"
SMOOTH = "N.minimum(abs({d}), {beta}) * (abs({d}) - 0.5 * N.minimum(abs({d}), {beta})) / {beta}"
"""d^2 / 2 beta below beta and |d| - beta / 2 above, in one line that has no seam."""
HUBER = "N.minimum(abs({d}), {beta}) * (abs({d}) - 0.5 * N.minimum(abs({d}), {beta}))"
SOFT_MARGIN = SOFTPLUS.format("(-({x} * {t}))")


def bce(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """-(t log x + (1 - t) log (1 - x)), w times; torch keeps the logarithms above -100."""
    x, target = tensor(args[0]), tensor(args[1])
    weight = args[2] if len(args) > 2 else None
    one, other = (f"N.maximum(N.log({of}), -100.0)" for of in (x.text, f"1.0 - {x.text}"))
    text = f"({target.text} - 1.0) * {other} - {target.text} * {one}"
    text = text if weight is None else f"({text}) * {tensor(weight).text}"
    return reduced(to, name, text, x.shape, args[3] if len(args) > 3 else MEAN, shape)


def bce_with_logits(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """(1 - t) x + log(1 + exp(-x)), the logarithm times 1 + (p - 1) t where a positive weight p is given."""
    x, target = tensor(args[0]), tensor(args[1])
    weight, positive = (args[place] if len(args) > place else None for place in (2, 3))
    log = SOFTPLUS.format(f"(-{x.text})")
    if positive is not None:
        log = f"(1.0 + (({tensor(positive).text} - 1.0) * {target.text})) * {log}"
    text = f"(1.0 - {target.text}) * {x.text} + {log}"
    text = text if weight is None else f"({text}) * {tensor(weight).text}"
    return reduced(to, name, text, x.shape, args[4] if len(args) > 4 else MEAN, shape)


def nll(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """-x at each row's label; a weighted mean is divided by the sum of the weights."""
    del options
    x, labels, weight, how = tensor(args[0]), args[1], args[2], args[3]
    if not isinstance(labels, Term) or not labels.is_mask or len(x.shape) != 2:
        raise UnknownError
    picked = to.set(f"{name}_picked", f"-N.take({x.text}, {labels.text}[:, None])[..., 0]")
    if weight is None:
        return reduced(to, name, picked, (x.shape[0],), how, shape)
    factor = to.set(f"{name}_w", f"{tensor(weight).text}[{labels.text}]")
    if how != MEAN:
        return reduced(to, name, f"{picked} * {factor}", (x.shape[0],), how, shape)
    text = f'N.dot({picked}, {factor}, "{name}")[..., 0] / N.sum({factor}, "{name}_total")[..., 0]'
    return Term(to.keep(name, text), shape)


def xlogy(logarithm: Text) -> WritingOne:
    """x log(y), of this logarithm, and 0 where x is 0, unless y is NaN."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
        del options
        x, y = (f"N.number({number_of(one)})" for one in args[:2])
        zero = to.set(f"{name}_is_0", f"{x}.is_zero")
        inside = to.set(f"{name}_y", f"N.where({zero}, 1.0, {y})")
        nothing = to.set(f"{name}_0", f"N.minimum(abs({y}), 0.0)")
        product = f"{number_of(args[0])} * {logarithm.format(inside)}"
        return Term(to.keep(name, f"N.where({zero}, {nothing}, {product})"), shape)

    return rule


def entropy(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """-x log(x), 0 where x is 0 and -inf where it is negative."""
    del options
    x = tensor(args[0]).text
    inside = to.set(f"{name}_x", f"N.where({x}.is_zero, 1.0, N.maximum({x}, 0.0))")
    return Term(to.keep(name, f"-({x} * N.log({inside}))"), shape)

"""Operations that subtract a mean and divide by a deviation: layer, batch, instance, group and rms norm."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import (
    Arg,
    SizeTexts,
    Term,
    Text,
    UnknownError,
    Writer,
    tensor,
    text_of,
    whole_number,
)

MOMENTS = ("two pass", "welford", "moments")
AFFINE = ("plain", "folded")


def scale_and_shift(to: Writer, name: str, text: Text, by: Sequence[Arg], shape: SizeTexts) -> Term:
    """Multiply by a weight and add a bias, if there are any."""
    weight, bias = by
    text = text if weight is None else f"{to.keep(f'{name}_normed', text)} * {text_of(weight)}"
    return Term(to.keep(name, text if bias is None else f"{text} + {text_of(bias)}"), shape)


def layer_norm(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> list[Term]:
    """(x - mean) / sqrt(var + eps) w + b, over the last axes; the mean and 1 / sqrt(var + eps) for a gradient."""
    x, sizes, shapes = tensor(args[0]), args[1], options.get("results")
    if not isinstance(sizes, list | tuple):
        raise UnknownError
    both = f'{to.use("over_places")}(N, {x.text}, {len(shape) - len(sizes)}, ("{name}_mean", "{name}_var"))'
    mean, var = pair(to, name, both)
    r = to.set(f"{name}_r", f"N.rsqrt({var} + {text_of(args[4])})")
    made = scale_and_shift(to, name, f"({x.text} - {mean}) * {r}", args[2:4], shape)
    saved = shapes[1:] if isinstance(shapes, list) else []
    return [made, *(Term(text, size) for text, size in zip((mean, r), saved, strict=False))]


def pair(to: Writer, name: str, both: Text) -> tuple[Text, Text]:
    """A mean and a variance, by any of the usual algorithms."""
    to.forms["moments"] = MOMENTS
    held = to.set(f"{name}_both", both)
    return f"{held}[0]", f"{held}[1]"


def normed(
    to: Writer, name: str, x: Term, mean: Text, var: Text, eps: Arg, by: Sequence[Arg], shape: SizeTexts
) -> Term:
    """The norm of each channel, with weights of channels, which may be folded into one product and one sum."""
    weight, bias = ("None" if one is None else tensor(one).text for one in by)
    to.forms["affine"] = AFFINE
    r = to.set(f"{name}_r", f"N.rsqrt({var} + {text_of(eps)})")
    return Term(to.keep(name, f"{to.use('affine_channels')}(N, {x.text}, {mean}, {r}, {weight}, {bias})"), shape)


def batch_norm_by(
    to: Writer, name: str, x: Term, by: Sequence[Arg], running: Sequence[Arg], eps: Arg, shape: SizeTexts
) -> Term:
    """A batch norm by running values, or by those of the batch where there are none."""
    if all(one is None for one in running):
        mean, var = pair(to, name, f'{to.use("over_batch")}(N, {x.text}, ("{name}_mean", "{name}_var"))')
    else:
        channels = to.use("per_channel")
        mean, var = (f"{channels}({tensor(one).text}, {x.text})" for one in running)
    return normed(to, name, x, mean, var, eps, by, shape)


def batch_norm(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """native_batch_norm(x, w, b, running mean, running var, is training, momentum, eps)."""
    del options
    return batch_norm_by(to, name, tensor(args[0]), args[1:3], (None, None) if args[5] else args[3:5], args[7], shape)


def batch_norm_eval(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """_native_batch_norm_legit_no_training(x, w, b, running mean, running var, momentum, eps)."""
    del options
    return batch_norm_by(to, name, tensor(args[0]), args[1:3], args[3:5], args[6], shape)


def batch_norm_legit(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """_native_batch_norm_legit(x, w, b, is training, momentum, eps), without running values."""
    if not isinstance(args[3], bool):
        return batch_norm(to, name, args, options, shape)
    return batch_norm_by(to, name, tensor(args[0]), args[1:3], (None, None), args[5], shape)


def group_norm(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """native_group_norm(x, w, b, batch, channels, places, groups, eps)."""
    del options
    x, groups = tensor(args[0]), whole_number(args[6])
    mean, var = pair(to, name, f'{to.use("in_groups")}(N, {x.text}, {groups}, ("{name}_mean", "{name}_var"))')
    return normed(to, name, x, mean, var, args[7], args[1:3], shape)


def rms_norm(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """x / sqrt(mean x^2 + eps) w, over the last axis."""
    del options
    x, sizes = tensor(args[0]), args[1]
    if not isinstance(sizes, list | tuple) or len(sizes) != 1 or args[3] is None:
        raise UnknownError
    mean = f'N.dot({x.text}, {x.text}, "{name}") / {x.text}.shape[-1]'
    return scale_and_shift(to, name, f"{x.text} * N.rsqrt({mean} + {text_of(args[3])})", (args[2], None), shape)

"""Products of matrices, and attention, which is two of them around a softmax."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import Arg, SizeTexts, Term, UnknownError, Writer, places_along, tensor, text_of


def matmul(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A B; for a softmax and values, their average. Merged batches are split again."""
    del options
    a, b = tensor(args[0]), tensor(args[1])
    if a.whole is not None and b.whole is not None and a.whole.shape[:-2] == b.whole.shape[:-2]:
        shapes = (*a.whole.shape[:-1], b.whole.shape[-1])
        whole = matmul(to, f"{name}_whole", (a.whole, b.whole), {}, shapes)
        merged = to.set(name, f"{whole.text}.reshaped({', '.join(shape)})")
        return Term(merged, shape, whole=whole)
    if a.weights:
        return Term(to.keep(name, f'N.average({a.weights}, {b.text}, ("{name}_pv", "{name}_row"))'), shape)
    return Term(to.keep(name, f'N.matmul({a.text}, {b.text}, "{name}")'), shape)


def biased_matmul(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """bias + A B, whose sums may also start at the bias."""
    if options.get("alpha", 1) != 1 or options.get("beta", 1) != 1:
        raise UnknownError
    bias, a, b = (tensor(one) for one in args[:3])
    return Term(to.keep(name, f'N.matmul({a.text}, {b.text}, "{name}", ({bias.text},))'), shape)


def times_vector(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A x."""
    del options
    a, x = tensor(args[0]), tensor(args[1])
    return Term(to.keep(name, f'N.matmul({a.text}, {x.text}.reshaped(-1, 1), "{name}")[..., 0]'), shape)


def scaled_matmul(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """A B of packed numbers, whose blocks have scales in tiles of 128 x 4."""
    del options
    texts = ", ".join(tensor(one).text for one in args[:4])
    return Term(to.keep(name, f'{to.use("matmul_of_blocks")}(N, {texts}, "{name}")'), shape)


def attention(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> Term:
    """softmax(scale q k^T) v, head by head, as torch's single operation."""
    q, k, v = (tensor(one) for one in args[:3])
    flags = [one for one in args[3:] if isinstance(one, bool)] or [bool(options.get("is_causal", False))]
    mask, scale = options.get("attn_mask"), options.get("scale")
    factor = f"(1.0 / N.sqrt(N.number({q.text}.shape[-1])))" if scale is None else text_of(scale)
    scores = to.keep(f"{name}_s", f'N.matmul({q.text}, {k.text}.T, "{name}_qk") * {factor}')
    if isinstance(mask, Term):
        masked = f"N.where({mask.text}, {scores}, -N.inf)" if mask.is_mask else f"{scores} + {mask.text}"
        scores = to.set(f"{name}_masked", masked)
    if flags[0]:
        seen = f"{places_along(to, k.shape[-2])} <= {places_along(to, q.shape[-2], -2)}"
        scores = to.set(f"{name}_seen", f"N.where({seen}, {scores}, -N.inf)")
    e = to.step(f"{name}_e", f"N.exp({scores} - N.shift({scores}))")
    to.all_masked = "zero or nan"  # torch's kernels for a CPU and for a GPU give 0, and the formula NaN
    return Term(to.keep(name, f'N.average({e}, {v.text}, ("{name}_pv", "{name}_row"))'), shape)

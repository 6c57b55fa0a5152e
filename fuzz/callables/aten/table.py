"""The rule for each operation, by the operation's name in a trace.

An operation that is not in the table is `N.unknown`: kfuzz does not judge what depends on it.
"""

from collections.abc import Sequence

from kfuzz.callables.aten.along_axes import (
    MEAN,
    SUM,
    deviation,
    layer_norm,
    length,
    log_softmax,
    logsumexp,
    reduction,
    rms_norm,
    running_sum,
    safe_softmax,
    softmax,
    variance,
)
from kfuzz.callables.aten.elementwise import (
    celu,
    clamp,
    each,
    elu,
    expm1,
    gelu,
    leaky_relu,
    mish,
    nearest,
    power,
    product,
    silu,
    softplus,
)
from kfuzz.callables.aten.masks import choice, comparison, masked_fill, places, triangle
from kfuzz.callables.aten.products import attention, biased_matmul, matmul, times_vector
from kfuzz.callables.aten.shapes import expand, full, join, part, permute, same, select, transpose, unsqueeze, view
from kfuzz.callables.aten.term import Arg, SizeTexts, Term, UnknownError, Writer, Writing

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
    "special_erf": each("N.erf({0})"),
    "erfc": each("N.erfc({0})"),
    "special_erfc": each("N.erfc({0})"),
    "exp2": each("N.exp2({0})"),
    "special_exp2": each("N.exp2({0})"),
    "log2": each("N.log2({0})"),
    "log10": each("N.log10({0})"),
    "sin": each("N.sin({0})"),
    "cos": each("N.cos({0})"),
    "atan2": each("N.atan2({0}, {1})"),
    "floor": each("N.floor({0})"),
    "ceil": each("N.ceil({0})"),
    "trunc": each("N.trunc({0})"),
    "fix": each("N.trunc({0})"),
    "round": nearest,
    "sign": each("N.sign({0})"),
    "sigmoid": each("N.sigmoid({0})"),
    "abs": each("abs({0})"),
    "relu": each("N.maximum({0}, 0.0)"),
    "maximum": each("N.maximum({0}, {1})"),
    "minimum": each("N.minimum({0}, {1})"),
    "log1p": each("N.log(1.0 + {0})"),
    "expm1": expm1,
    "softplus": softplus,
    "log_sigmoid_forward": each("N.minimum({0}, 0.0) - N.log(1.0 + N.exp(-abs({0})))"),
    "mish": mish,
    "elu": elu,
    "celu": celu,
    "leaky_relu": leaky_relu,
    "hardtanh": clamp,
    "hardswish": each("{0} * N.minimum(N.maximum({0} + 3.0, 0.0), 6.0) / 6.0"),
    "hardsigmoid": each("N.minimum(N.maximum({0} + 3.0, 0.0), 6.0) / 6.0"),
    "linalg_vector_norm": length,
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
    "addmm": biased_matmul,
    "baddbmm": biased_matmul,
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
    "le": comparison("({0} <= {1})"),
    "lt": comparison("({0} < {1})"),
    "ge": comparison("({0} >= {1})"),
    "gt": comparison("({0} > {1})"),
    "eq": comparison("({0} == {1})"),
    "bitwise_and": comparison("({0} & {1})"),
    "logical_and": comparison("({0} & {1})"),
    "logical_not": comparison("~{0}"),
    "bitwise_not": comparison("~{0}"),
    "where": choice,
    "masked_fill": masked_fill,
    **dict.fromkeys(COPIES, same),
    **dict.fromkeys(VIEWS, view),
    **{f"_scaled_dot_product_{kind}": attention for kind in ATTENTIONS},
}
"""By the name without `aten.`, the overload, and the underscore of an operation in place."""


def write_operation(
    to: Writer, op: str, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts
) -> Term | None:
    """One operation as lines of the formula; None if it is not in the table; the caller writes `N.unknown`."""
    rule = RULES.get(op) or RULES.get(op.removesuffix("_"))
    try:
        if rule is None:
            raise UnknownError
        made = rule(to, name, args, options, shape)
    except (UnknownError, IndexError, TypeError, ValueError, AttributeError):
        return None
    to.steps[name] = None
    return made

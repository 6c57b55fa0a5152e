"""The message for a file that no guess fits: how it differs from the op, and four ways on.

Knows text and ops; never trials.
"""

from kfuzz.claims.language.roles import roles_of
from kfuzz.claims.language.signature import Parameter
from kfuzz.common.text.unclosed import unclosed_words
from kfuzz.devices import ClaimError
from kfuzz.measure.roundings.guess_kernel import Function, function_of, is_const, name_of, written_grids
from kfuzz.measure.roundings.text import commented
from kfuzz.oracle.numbers.plural import plural

MOST_SHOWN = 4096


def no_claim(where: str, op: str, source: str, failure: str, example: str) -> str:
    """Why no guess is kept, and what to do. `example`: the likeliest claim; `failure`: what breaks it."""
    try:
        function = function_of(where, source)
    except ClaimError:
        function = None
    arrays = [name_of(one) for one in function.parameters if one.is_pointer] if function else []
    roles = roles_of(op)
    own = list(dict.fromkeys([*roles.inputs, *roles.outputs]))
    why = f"no guess of how it computes {op} is kept" + (f"; the likeliest fails: {failure}" if failure else "")
    if function and not example and not len(own) <= len(arrays) <= len(roles.inputs) + len(roles.outputs):
        taken = f"it takes {plural(len(arrays), 'array')} ({', '.join(arrays)}), {op} has {len(own)} ({', '.join(own)})"
        why = f"kfuzz does not know this function: {taken}"
    start = example or (claim_to_start_from(function, source) if function else "")
    ways = [
        "give an expression of ops: --op 'gelu_tanh(x + bias)'",
        "or a torch reference: --reference FILE.py",
        "or a formula: kfuzz op --template > my_op.py, then --op ./my_op.py",
        f"or start from this claim, at the top of the file:\n// /// kernel\n{commented(start)}\n// ///"
        if start
        else f"or write its claim: kfuzz show --template {op} prints one to start from",
    ]
    return "\n".join([f"{unclosed_words(where, source)}{where}: {why}", *ways])


def claim_to_start_from(function: Function, source: str) -> str:
    """A claim with the function's own arrays and sizes; its op is yours to write."""
    sizes = [name_of(one) for one in function.parameters if not one.is_pointer and not one.is_float] or ["n"]
    shape = ", ".join(sizes)
    arrays = ", ".join(array_text(one, shape) for one in function.parameters if one.is_pointer)
    axes = ", ".join(f'{name} = "1..{MOST_SHOWN}"' for name in sizes)
    args = ", ".join(f'"{name_of(one)}"' for one in function.parameters)
    grid, block = next(written_grids(function, source), (sizes[0], "256"))
    return (
        f'op     = "./my_op.py"\naxes   = {{ {axes} }}\narrays = {{ {arrays} }}\n\n[[launch]]\n'
        f'entry  = "{function.entry}"\ngrid   = "{grid}"\nblock  = "{block}"\nargs   = [{args}]'
    )


def array_text(pointer: Parameter, shape: str) -> str:
    """An array of a claim, with the role of its own name: const pointers are inputs."""
    name = name_of(pointer)
    return f'{name} = "f32[{shape}] {"->" if is_const(pointer) else "<-"} {name}"'

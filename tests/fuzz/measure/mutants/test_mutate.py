"""Mutants: where operators apply, what they leave alone, and that each does what its name says."""

import ast
from functools import cache
from pathlib import Path

import pytest
from our_kernels import every_kernel
from seldom import one_in

from kfuzz.claims.kernel import KERNELS, Kernel, load
from kfuzz.measure.mutants.change import Change
from kfuzz.measure.mutants.mutate import Mutant, as_kernel, mutants, operators, python_operators
from kfuzz.measure.mutants.survivors import identifying_line, read_reasons
from kfuzz.measure.mutants.syntax import parse
from kfuzz.measure.mutants.trials import choose_mutants

CORRECT = tuple(kernel for kernel in every_kernel() if kernel.broken is None and "__global__" in kernel.source)


@cache
def mutants_of(name: str) -> tuple[Mutant, ...]:
    """All mutants of a correct kernel, which two tests look at."""
    (kernel,) = [kernel for kernel in CORRECT if kernel.name == name]
    return mutants(kernel)


EXAMPLES = {
    "relational": ("if (i < n) x = 1;", "if (i <= n) x = 1;"),
    "reversed comparison": ("if (i < n) x = 1;", "if (i > n) x = 1;"),
    "bound less one": ("if (i < n) x = 1;", "if (i < (n - 1)) x = 1;"),
    "bound plus one": ("if (i < n) x = 1;", "if (i < (n + 1)) x = 1;"),
    "negated condition": ("if (i < n) x = 1;", "if (!(i < n)) x = 1;"),
    "guard dropped": ("if (i < n) x = 1;", "if ((i < n) || true) x = 1;"),
    "branch removed": ("if (i < n) x = 1;", "if ((i < n) && false) x = 1;"),
    "conjunct dropped": ("if (a && b) x = 1;", "if (b) x = 1;"),
    "other conjunction": ("if (a && b) x = 1;", "if (a || b) x = 1;"),
    "choice dropped": ("x = a ? b : c;", "x = (b);"),
    "rescale dropped": ("s = s * expf(a - b) + t;", "s = s + t;"),
    "exponent inverted": ("s = expf(a - b);", "s = expf(b - a);"),
    "shift dropped": ("s = expf(a - b);", "s = expf(a);"),
    "wrong shift": ("float c = 1; s = expf(a - b);", "float c = 1; s = expf(a - c);"),
    "exp fast": ("s = expf(a);", "s = __expf(a);"),
    "exp to base two": ("s = expf(a);", "s = exp2f(a);"),
    "exp in half": ("s = expf(a);", "s = __uint_as_float((__float_as_uint(expf(a)) + 0x1000u) & 0xffffe000u);"),
    "exp clamped": ("s = expf(a);", "s = expf(fmaxf(a, -20.0f));"),
    "neg inf as zero": ("m = -INFINITY;", "m = 0.0f;"),
    "neg inf as neg flt max": ("m = -INFINITY;", "m = -3.402823466e+38f;"),
    "neg inf as flt min": ("m = -INFINITY;", "m = 1.175494351e-38f;"),
    "neg inf as inf": ("m = -INFINITY;", "m = INFINITY;"),
    "neg inf as large": ("m = -INFINITY;", "m = -1e4f;"),
    "zero as one": ("s = 0.0f;", "s = 1.0f;"),
    "one as zero": ("s = 1.0f;", "s = 0.0f;"),
    "one as two": ("s = 1.0f;", "s = 2.0f;"),
    "other dimension": ("t = threadIdx.x;", "t = threadIdx.y;"),
    "other level": ("t = blockDim.x;", "t = gridDim.x;"),
    "wrong index": ("int i = 0; int j = 1; x = i;", "int i = 0; int j = 1; x = j;"),
    "stride plus one": ("int n = 1; x = row * n;", "int n = 1; x = row * (n + 1);"),
    "stride less one": ("int n = 1; x = row * n;", "int n = 1; x = row * (n - 1);"),
    "term dropped": ("x = a + b;", "x = b;"),
    "index plus one": ("x = a[i];", "x = a[(i) + 1];"),
    "index less one": ("x = a[i];", "x = a[(i) - 1];"),
    "index zero": ("x = a[i];", "x = a[0];"),
    "number plus one": ("x = 32;", "x = 33;"),
    "number less one": ("x = 32;", "x = 31;"),
    "number halved": ("x = 32;", "x = 16;"),
    "number doubled": ("x = 32;", "x = 64;"),
    "index of sixteen bits": ("x = static_cast<size_t>(i);", "x = static_cast<unsigned short>(i);"),
    "first skipped": ("for (int i = t; i < n; ++i) {}", "for (int i = t + 1; i < n; ++i) {}"),
    "first share skipped": ("for (int i = t; i < n; i += w) {}", "for (int i = t + w; i < n; i += w) {}"),
    "step plus one": ("for (int i = t; i < n; i += w) {}", "for (int i = t; i < n; i += (w) + 1) {}"),
    "step less one": ("for (int i = t; i < n; i += w) {}", "for (int i = t; i < n; i += (w) - 1) {}"),
    "step doubled": ("for (int i = t; i < n; i += w) {}", "for (int i = t; i < n; i += 2 * (w)) {}"),
    "step halved": ("for (int i = t; i < n; i += w) {}", "for (int i = t; i < n; i += (w) / 2) {}"),
    "halving skipped": ("for (int i = 16; i > 0; i /= 2) {}", "for (int i = 16; i > 0; i /= (2 * 2)) {}"),
    "starts at half": ("for (int i = w; i > 0; i >>= 1) {}", "for (int i = (w) / 2; i > 0; i >>= 1) {}"),
    "starts at double": ("for (int i = w; i > 0; i /= 2) {}", "for (int i = (w) * 2; i > 0; i /= 2) {}"),
    "last halving skipped": ("for (int i = w; i > 0; i /= 2) {}", "for (int i = w; (i > 0) && i != 1; i /= 2) {}"),
    "max as min": ("m = fmaxf(m, x);", "m = fminf(m, x);"),
    "max as sum": ("m = fmaxf(m, x);", "m = (m + x);"),
    "max forgets": ("m = fmaxf(m, x);", "m = (x);"),
    "overwritten": ("s += x;", "s = x;"),
    "subtracted": ("s += x;", "s -= x;"),
    "accumulated": ("s = x;", "s += x;"),
    "counted twice": ("s += x;", "{ s += x; s += x; }"),
    "statement dropped": ("s += x;", ";"),
    "double as float": ("double s = 0;", "float s = 0;"),
    "shuffle mask of half": ("v = __shfl_sync(~0u, v, k);", "v = __shfl_sync(0x0000ffffu, v, k);"),
    "shuffle width halved": ("v = __shfl_sync(~0u, v, k);", "v = __shfl_sync(~0u, v, k, 16);"),
    "shuffle offset halved": ("v = __shfl_down_sync(~0u, v, k);", "v = __shfl_down_sync(~0u, v, (k) / 2);"),
    "shuffle offset doubled": ("v = __shfl_down_sync(~0u, v, k);", "v = __shfl_down_sync(~0u, v, (k) * 2);"),
    "shuffle offset plus one": ("v = __shfl_down_sync(~0u, v, k);", "v = __shfl_down_sync(~0u, v, (k) + 1);"),
    "shuffle from last lane": ("v = __shfl_sync(~0u, v, 0);", "v = __shfl_sync(~0u, v, 31);"),
    "shuffle turned": ("v = __shfl_xor_sync(~0u, v, k);", "v = __shfl_down_sync(~0u, v, k);"),
    "shuffle dropped": ("v = v + __shfl_sync(~0u, v, k);", "v = v + v;"),
    "drop barrier": ("x = 1; __syncthreads(); y = x;", "x = 1; ; y = x;"),
    "barrier into branch": ("if (a) { x = 1; } __syncthreads();", "if (a) { x = 1; __syncthreads();} ;"),
    "reuse shared array": (
        "__shared__ float a[32]; __shared__ float b[32]; b[0] = 1;",
        "__shared__ float a[32]; __shared__ float b[32]; a[0] = 1;",
    ),
    "wrong array": ("float b[2]; b[0] = 1;", "float b[2]; p[0] = 1;"),
    "drop atomic": ("atomicAdd(p + 1, v);", "((*(p + 1) += v) - (v));"),
    "drop fences": ("__threadfence(); x = a; __threadfence();", "(void)0; x = a; (void)0;"),
    "other sign": ("x = a * b;", "x = a / b;"),
    "division turned": ("x = a / b;", "x = b / a;"),
    "division dropped": ("x = a / b;", "x = a;"),
    "wrong component": ("x = v.x;", "x = v.y;"),
    "wrong member": ("x = s.max;", "x = s.sum;"),
    "stale value": ("float a = 1; float b = f(a); y = b;", "float a = 1; float b = f(a); y = a;"),
    "wrong float": ("float a = 1; float b = 2; y = a;", "float a = 1; float b = 2; y = b;"),
    "swapped arguments": ("v = make_float2(a, b);", "v = make_float2(b, a);"),
    "result forgotten": ("float a = 1; float b = 2; return b;", "float a = 1; float b = 2; return a;"),
}


def applied(name: str, body: str) -> list[str]:
    """What an operator makes of a function's body."""
    text = f"__device__ float f(float *p) {{ {body} }}"
    return [
        changed(text, change)[len("__device__ float f(float *p) { ") : -2] for change in operators()[name](parse(text))
    ]


def changed(text: str, change: Change) -> str:
    for start, end, put in sorted(change, reverse=True):
        text = text[:start] + put + text[end:]
    return text


def test_barriers_of_groups_are_left_out_too() -> None:
    body = "cluster.barrier_arrive(); x = 1; cluster.barrier_wait(); grid.sync(); sync();"
    assert applied("drop barrier", body) == [
        body.replace(f"{one}();", ";") for one in ("cluster.barrier_arrive", "cluster.barrier_wait", "grid.sync")
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_operator_does_what_its_name_says(name: str) -> None:
    before, after = EXAMPLES[name]
    assert after in applied(name, before)


def test_every_operator_has_an_example_and_says_what_it_does() -> None:
    assert set(operators()) == set(EXAMPLES)
    assert all(operator.__doc__ for operator in operators().values())


def test_there_are_operators_enough_to_speak_of() -> None:
    assert len(operators()) >= 20


@pytest.mark.parametrize("kernel", every_kernel(), ids=lambda kernel: kernel.name)
def test_the_grammar_understands_every_kernel(kernel: Kernel) -> None:
    assert parse(kernel.source).errors == ()


def test_what_the_grammar_does_not_understand_is_named_by_its_line() -> None:
    assert parse("int a;\nint = 3 4 5;\n").errors == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", one_in(3, CORRECT), ids=[kernel.name for kernel in CORRECT])
def test_a_mutant_changes_code_and_nothing_of_the_claim(kernel: Kernel) -> None:
    end = kernel.source.index("// ///\n", kernel.source.index("// /// kernel") + 13)
    every = mutants_of(kernel.name)
    assert every
    for mutant in every:
        assert mutant.source[:end] == kernel.source[:end]
        assert mutant.source != kernel.source
        assert as_kernel(mutant, kernel).name == kernel.name
    assert len({mutant.source for mutant in every}) == len(every)
    assert len({mutant.key for mutant in every}) == len(every)


def test_a_mutant_names_its_line_before_and_after() -> None:
    kernel = load(KERNELS / "reduce" / "warp_max_down.cu")
    (mutant,) = [one for one in mutants(kernel) if one.operator == "max as min"]
    assert kernel.source.splitlines()[mutant.line - 1].strip() == mutant.before
    assert mutant.before == "value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));"
    assert mutant.after == "value = fminf(value, __shfl_down_sync(0xffffffffu, value, offset));"


def test_a_function_that_no_launch_reaches_is_left_alone(tmp_path: Path) -> None:
    kernel = load(KERNELS / "reduce" / "warp_max_down.cu")
    idle = "__device__ float never(float a, float b) {\n    // größer\n  return a < b ? fmaxf(a, b) : expf(a - b);\n}\n"
    for call, more in (("", False), ("    never(1.0f, 2.0f);\n", True)):
        head, opened, body = kernel.source.rpartition("{\n")
        start = head.index("// ///\n", head.index("/// kernel")) + len("// ///\n")
        (tmp_path / "mine.cu").write_text(head[:start] + idle + head[start:] + opened + call + body)
        found = mutants(load(tmp_path / "mine.cu"))
        assert any("fminf(a, b)" in one.after for one in found) == more
        assert len(found) >= len(mutants(kernel))


@pytest.mark.parametrize(
    "text",
    [
        "// if (i < n) x = 1;\n",
        "/* s += expf(a - b); */",
        'static_assert(32 < 33, "no code that runs");',
        "template <int width = 32> __device__ void f() {}",
        '__device__ const char *words = "if (i < n) { __syncthreads(); }";',
    ],
)
def test_what_does_not_run_is_left_alone(text: str) -> None:
    assert [name for name, operator in operators().items() for _ in operator(parse(text))] == []


@pytest.mark.slow
def test_of_each_operator_so_many_are_chosen_and_always_the_same() -> None:
    kernel = load(KERNELS / "softmax" / "online_block.cu")
    one, two, every = choose_mutants(kernel, 1), choose_mutants(kernel, 2), choose_mutants(kernel, 0)
    assert len({mutant.operator for mutant in one}) == len(one)
    assert set(one) < set(two) < set(every) == set(mutants(kernel))
    assert choose_mutants(kernel, 1) == one


@pytest.mark.slow
def test_every_reason_speaks_of_mutants() -> None:
    for reason in read_reasons():
        named = {kernel.name for kernel in CORRECT} & set(reason.kernels)  # a reason is for no other kernel
        meant = [mutant for name in named for mutant in mutants_of(name) if reason.applies_to(mutant)]
        assert {mutant.kernel for mutant in meant} == set(reason.kernels), reason
        assert {identifying_line(mutant) for mutant in meant} == set(reason.after), reason
        assert len(reason.why) > 30, reason


PYTHON = """# /// kernel
# op = "softmax"
# ///
import numpy as np


def unused(x):
    return x + 1


def inner(x):
    return np.exp(x - x.max(-1, keepdims=True))


def forward(x):
    e = inner(x)
    for row in range(len(x)):
        if row < 7 and row > 9:
            e[row] += 0.5
    return e / e.sum(-1, keepdims=True)
"""


def test_mutants_of_python_are_python_and_of_what_is_called_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PYTHON)
    found = mutants(load(tmp_path / "mine.py"))
    assert {one.line for one in found} <= {12, 16, 17, 18, 19, 20}
    assert len({one.source for one in found}) == len(found) > 15
    for one in found:
        ast.parse(one.source)
        assert one.source.count("\n") == PYTHON.count("\n")


@pytest.mark.parametrize(
    ("operator", "after"),
    [
        ("another function", "return np.exp(x - x.min(-1, keepdims=True))"),
        ("function left out", "return (x - x.max(-1, keepdims=True))"),
        ("argument left out", "return np.exp(x - x.max(-1))"),
        ("another axis", "return np.exp(x - x.max(0, keepdims=True))"),
        ("another sign", "return np.exp((x) + (x.max(-1, keepdims=True)))"),
        ("bound off by one", "if row <= 7 and row > 9:"),
        ("half of a condition", "if row < 7:"),
        ("condition turned", "if not (row < 7 and row > 9):"),
        ("range starts late", "for row in range(0 + 1, len(x), 1):"),
        ("range ends early", "for row in range(0, (len(x)) - (1), 1):"),
        ("range steps twice", "for row in range(0, len(x), 2 * (1)):"),
        ("update as assignment", "e[row] = 0.5"),
        ("statement left out", "pass"),
        ("number zero", "e[row] += 0.0"),
        ("number off", "e[row] += 0.505"),
    ],
)
def test_an_operator_for_python_does_what_it_says(operator: str, after: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PYTHON)
    assert after in [one.after for one in mutants(load(tmp_path / "mine.py")) if one.operator == operator]


def test_every_operator_for_python_says_what_it_does() -> None:
    assert len(python_operators()) >= 15
    assert all(operator.__doc__ for operator in python_operators().values())
    assert not set(python_operators()) & set(operators())

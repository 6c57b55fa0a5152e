"""Pallas without a GPU: a call runs what Triton compiled of what JAX lowered, and findings name the user's lines."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import DATA
from small_callables import X, trial_of

from kfuzz.campaign.trials.trial import Trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import load
from kfuzz.devices import ClaimError, Probe
from kfuzz.devices.python.device import PythonDevice

pytestmark = [
    pytest.mark.slow(5),
    pytest.mark.skipif(None in map(find_spec, ("jax", "triton", "torch")), reason="it needs JAX, Triton and torch"),
]
BEGIN = """import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plt


"""
END = """

def row_sum(x):
    made = jax.ShapeDtypeStruct(x.shape[:1], x.dtype)
    return pl.pallas_call(kernel, out_shape=made, grid=x.shape[0])(x)
"""
SUM = """def kernel(x_ref, y_ref):
    i = pl.program_id(0)
    y_ref[i] = jnp.sum(x_ref[i, :])
"""
MASKED = """def kernel(x_ref, y_ref, *, cols):
    i, j = pl.program_id(0), jnp.arange(16)
    row = plt.load(x_ref.at[i, j], mask=j < cols{more}, other=0.0)
    y_ref[i] = jnp.sum(row)


def row_sum(x):
    held = functools.partial(kernel, cols=x.shape[1])
    return pl.pallas_call(held, out_shape=jax.ShapeDtypeStruct(x.shape[:1], x.dtype), grid=x.shape[0])(x)
"""
LOOP = """def kernel(x_ref, y_ref):
    i, cols, traced = pl.program_id(0), x_ref.shape[1], []

    def add(j, total):
        traced.append(j)
        return total + x_ref[i, j]

    y_ref[i] = jax.lax.fori_loop(0, cols, add, 0.0)
    assert len(traced) < cols  # else it is unrolled, and on a GPU it is a loop
"""
CONDITION = """def kernel(x_ref, y_ref):
    i = pl.program_id(0)

    @pl.when(x_ref[i, 0] < 1e30)
    def _():
        y_ref[i] = jnp.sum(x_ref[i, :])
"""
ALIASED = """def kernel(x_ref, before_ref, y_ref):
    i = pl.program_id(0)
    y_ref[i] += jnp.sum(x_ref[i, :])


def row_sum(x):
    rows = x.shape[0]
    call = pl.pallas_call(
        kernel, out_shape=jax.ShapeDtypeStruct((rows,), x.dtype), grid=rows, input_output_aliases={1: 0}
    )
    half, one = call(x * 0.5, jnp.zeros(rows)), jnp.ones(rows)
    assert (call(x * 0.0, one) == 1.0).all() and (one == 1.0).all()
    return call(x * 0.5, half)
"""
SEVERAL = """def kernel(x_ref, y_ref, most_ref, is_positive_ref):
    i = pl.program_id(0)
    row = x_ref[i, :]
    y_ref[i], most_ref[i], is_positive_ref[i] = jnp.sum(row), jnp.max(row), jnp.sum(row) > 0.0


def row_sum(x):
    one, of_bool = (jax.ShapeDtypeStruct(x.shape[:1], kind) for kind in (x.dtype, jnp.bool_))
    y, most, is_positive = pl.pallas_call(kernel, out_shape=(one, one, of_bool), grid=x.shape[0])(x)
    assert (most == x.max(1)).all() and (is_positive == (y > 0.0)).all()
    return y
"""
MATMUL = """def kernel(a_ref, b_ref, c_ref):
    c_ref[...] = jnp.dot(a_ref[...], b_ref[...], preferred_element_type=jnp.float32)


def row_sum(x):
    rows, cols = x.shape
    a = jnp.zeros((32, 64), jnp.float16).at[:rows, :cols].set(jnp.round(x))
    b = jnp.arange(64.0, dtype=jnp.float16)[:, None] % 8 + jnp.arange(32.0, dtype=jnp.float16) % 4
    c = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((32, 32), jnp.float32),
        grid=(2, 2),
        in_specs=[pl.BlockSpec((16, 64), lambda i, j: (i, 0)), pl.BlockSpec((64, 16), lambda i, j: (0, j))],
        out_specs=pl.BlockSpec((16, 16), lambda i, j: (i, j)),
        compiler_params=plt.CompilerParams(num_warps=2, num_stages=1),
    )(a, b)
    assert (c == a.astype(jnp.float32) @ b.astype(jnp.float32)).all()
    return x.sum(1)
"""
BATCHED = """def kernel(x_ref, y_ref):
    y_ref[...] = jnp.sum(x_ref[...])


def _sum_of_row(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((), x.dtype))(x)


@jax.jit
def row_sum(x):
    return jax.vmap(_sum_of_row)(x)
"""
IN_LOOPS = """def kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...] + 1.0


_add_one = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32))


@jax.jit
def row_sum(x):
    held = jax.lax.fori_loop(0, 3, lambda i, v: _add_one(v), jnp.zeros(4))
    held = jax.lax.while_loop(lambda v: v[0] < 5, _add_one, held)
    held, _ = jax.lax.scan(lambda v, _: (_add_one(v), None), held, None, length=2)
    assert (jax.checkpoint(_add_one)(held) == 8.0).all()
    return x.sum(1)
"""
RIGHT = {
    "as it is": SUM + END,
    "masked, of a partial": MASKED.format(more=""),
    "a loop": LOOP + END,
    "a condition": CONDITION + END,
    "an output that is an input": ALIASED,
    "several outputs": SEVERAL,
    "a product of blocks": MATMUL,
    "under jit and vmap": BATCHED,
    "in loops of the host": IN_LOOPS,
    "interpreted": SUM + END.replace("grid=", "interpret=True, grid="),
}
INLINED = """def _load(x_ref, i):
    return x_ref[i, :]


def kernel(x_ref, y_ref):
    i = pl.program_id(0)
    y_ref[i] = jnp.sum(_load(x_ref, i + 1))
"""
WRONG = {
    "a read": (MASKED.format(more=" + 1"), "out-of-bounds", 14, "reads x_ref[12]; x_ref is f32[12]"),
    "a read by a helper": (INLINED + END, "out-of-bounds", 13, "reads x_ref[12]; x_ref is f32[12]"),
    "a write": (SUM.replace("y_ref[i]", "y_ref[i + 1]") + END, "out-of-bounds", 14, "writes y_ref[3]; y_ref is f32[3]"),
    "a race": (SUM.replace("y_ref[i]", "y_ref[i // 2]") + END, "race", 14, "writes y_ref[0], which program 0 wrote"),
    "a program less": (SUM + END.replace("grid=x.shape[0]", "grid=2"), "unwritten", None, "1 of 3 elements of y: 2"),
    "an input": (f"{SUM}    x_ref[i, 0] = 0.0\n{END}", "input-changed", None, "x_ref is an input, and element 0"),
    "its own error": (SUM.replace("x_ref[i, :]", "{}['a']") + END, "exception", 14, "KeyError: 'a'"),
    "shapes": (SUM.replace("x_ref[i, :]", "x_ref[...] @ x_ref[...]") + END, "exception", 14, "TypeError: dot_general"),
}
SCRATCH = """def kernel(x_ref, y_ref, held_ref):
    y_ref[...] = jnp.sum(x_ref[...], axis=1)


def row_sum(x):
    held = pl.MemoryRef(jax.core.ShapedArray((4,), x.dtype), pl.ANY)
    made = jax.ShapeDtypeStruct(x.shape[:1], x.dtype)
    return pl.pallas_call(kernel, out_shape=made, scratch_shapes=[held])(x)
"""
WARPS = """def row_sum(x):
    made = jax.ShapeDtypeStruct(x.shape[:1], x.dtype)
    return pl.pallas_call(kernel, out_shape=made, grid=3, compiler_params=plt.CompilerParams(num_warps=3))(x)
"""
NARROW = """def kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...].astype(jnp.float32)


def row_sum(x):
    made = jax.ShapeDtypeStruct((4,), x.dtype)
    return pl.pallas_call(kernel, out_shape=made)(jnp.ones(4, jnp.int4))[:3]
"""
COMPILED_BY_JAX = """def row_sum(x):
    call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape[:1], x.dtype), grid=x.shape[0])
    with jax.disable_jit(False):
        return jax.jit(call)(x)
"""
REFUSED = {
    "sizes": (SUM.replace("x_ref[i, :]", "x_ref[...]") + END, "pallas does not compile this: ValueError: The Pallas"),
    "what JAX lacks": (SCRATCH, "pallas does not compile this: NotImplementedError: scratch memory not implemented"),
    "what Triton lacks": (SUM + WARPS, "pallas does not compile this: AssertionError: num_warps must be a power of 2"),
    "another release": (SUM.replace("x_ref[i, :]", "pl.load(x_ref, i)") + END, "has no jax.experimental.pallas.load"),
    "numbers of 4 bits": (NARROW, "Pallas: arrays of int4, several of which share a byte on a GPU; or use"),
    "JAX compiles the call": (SUM + COMPILED_BY_JAX, "ValueError: Only interpret mode is supported on CPU backend"),
}
MOSAIC = """from jax.experimental.pallas import mosaic_gpu as plgpu


def _kernel(x_ref, y_ref):
    y_ref[...] = x_ref[...]


def row_sum(x):
    made = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return {}(x).sum(1)
"""
OF_MOSAIC = {
    "pl.pallas_call(_kernel, made, compiler_params=plgpu.CompilerParams())": "compiler_params of mosaic_gpu, and the",
    "plgpu.kernel(_kernel, made)": "a kernel over a mesh is Mosaic's, and the",
}


@pytest.fixture(scope="module")
def device() -> Iterator[PythonDevice]:
    opened = PythonDevice()
    yield opened
    opened.close()


def tried(folder: Path, name: str, text: str, device: PythonDevice) -> Trial:
    return trial_of(folder, f"mine_{abs(hash(name))}", BEGIN + text, device)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_is_right(name: str, device: PythonDevice, tmp_path: Path) -> None:
    found = tried(tmp_path, name, RIGHT[name], device)
    assert ([one.message for one in found.defects], found.reasons, found.elements) == ([], (), 3)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_kernel_is_found_in_its_line(name: str, device: PythonDevice, tmp_path: Path) -> None:
    text, kind, line, words = WRONG[name]
    found = [one for one in tried(tmp_path, name, text, device).errors if one.kind == kind]
    assert [one.line for one in found] == [line]
    assert words in found[0].message


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_compile_is_refused(name: str, device: PythonDevice, tmp_path: Path) -> None:
    text, words = REFUSED[name]
    with pytest.raises(ClaimError) as error:
        tried(tmp_path, name, text, device)
    assert words in str(error.value)


@pytest.mark.skipif(find_spec("absl") is None, reason="Mosaic GPU needs absl")
@pytest.mark.parametrize("call", OF_MOSAIC)
def test_kernels_of_mosaic_are_refused_in_one_line(call: str, device: PythonDevice, tmp_path: Path) -> None:
    with pytest.raises(ClaimError) as error:
        tried(tmp_path, call, MOSAIC.format(call), device)
    assert f"Pallas: {OF_MOSAIC[call]} cpu device runs what Triton compiles: " in str(error.value)
    assert "\n" not in str(error.value)


def test_a_kernel_is_compiled_for_each_target(device: PythonDevice) -> None:
    kernel = load(DATA / "callables" / "pallas" / "softmax.py")
    job = kernel.bind(case_of("softmax", {"x": X.reshape(-1)[:8].reshape(1, 8)}).arrays, {}).job
    usual = device.run(job, Probe(runs=1))
    assert (usual.through, set(usual.other_ways)) == ("sm_90", {"sm_80", "sm_100"})
    for target in usual.other_ways:
        assert device.run(replace(job, through=target), Probe(runs=1)).through == target


def test_a_function_that_a_launcher_gets_is_no_entry(tmp_path: Path) -> None:
    text = """import functools
from jax.experimental import pallas as pl

def first(x_ref, y_ref): ...
def second(x_ref, y_ref): ...
def third(x_ref, y_ref): ...

def _left(x):
    held = functools.partial(first, x)
    return pl.pallas_call(held)(x)

def _right(x):
    held = functools.partial(second, x)
    return pl.pallas_call(held)(x) + pl.pallas_call(kernel=third)(x)

def forward(x): ...
"""
    path = tmp_path / "mine.py"
    path.write_text(f'# /// kernel\n# op = "row_sum"\n# ///\n{text}')
    assert [str(one) for one in load(path).entries] == ["forward(x)"]

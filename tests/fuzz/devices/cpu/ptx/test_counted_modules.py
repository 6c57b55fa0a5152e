"""Counts the roundings of PTX modules: as in the text of which a compiler made them, along every way of a number."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paths import DATA
from with_nvcc import needs_nvcc

from kfuzz.claims.kernel import KERNELS, Kernel, load, read
from kfuzz.claims.language.cuda import THROUGH
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices.cpu.counting import STAGES, Counter, RunCounts, UncountedError
from kfuzz.measure.roundings.grounds import inputs_of
from kfuzz.measure.roundings.measure import sampled
from kfuzz.measure.roundings.text import in_language

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def counter() -> Iterator[Counter]:
    one = Counter()
    yield one
    one.close()


def module(name: str, *edits: tuple[str, str]) -> Kernel:
    text = (DATA / "ptx" / f"{name}.ptx").read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return read(parse(DATA / "ptx" / f"{name}.ptx", text))


def cuda(name: str, old: str = "", new: str = "") -> Kernel:
    text = (KERNELS / name).read_text(encoding="utf-8")
    return read(parse(KERNELS / name, text.replace(old, new) if old else text))


def count(counter: Counter, kernel: Kernel, axes: Mapping[str, int], tune: Mapping[str, int]) -> RunCounts:
    found = counter.count(kernel.bind(inputs_of(kernel, axes), tune).job)
    assert found is not None
    return found


def stages(counts: RunCounts) -> tuple[int, ...]:
    trails = list(counts.outputs.values())
    return tuple(max(int(trail[f"adds_of_{stage}"].max()) for trail in trails) for stage in STAGES)


TEXTS = {
    "warp_sum": (cuda("reduce/warp_sum_xor.cu"), ("rows", "cols"), {"width": 32}),
    "softmax": (cuda("softmax/naive_block.cu", "expf(", "__expf("), ("rows", "cols"), {}),
    "gemv": (cuda("gemv/warp_row.cu"), ("m", "k"), {}),
}


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one == "gemv" else pytest.mark.soak) for one in TEXTS])
def test_a_module_counts_as_the_text_of_which_nvcc_made_it(counter: Counter, name: str) -> None:
    """Also where nvcc fuses products, as in gemv: these round nothing that is counted, and each sum is the same."""
    text, axes, tune = TEXTS[name]
    for sizes, threads in (((1, 1), 32), ((3, 33), 32), ((2, 300), 64)):
        shape = dict(zip(axes, sizes, strict=True))
        one = count(counter, module(name), shape, {"threads": threads})
        other = count(counter, text, shape, {"threads": threads, **tune})
        assert (one.lost, one.crowded, one.exps) == (0, 0, other.exps)
        for array, trails in other.outputs.items():
            np.testing.assert_array_equal(one.outputs[array], trails)
    assert sum(stages(one)) > 0


def test_an_addition_that_the_compiler_put_in_is_counted(counter: Counter) -> None:
    sizes = {"rows": 2, "cols": 100}
    planted = module("row_sum", ("    add.f32 %f2, %f2, %f3;", "    add.f32 %f2, %f2, %f3; add.f32 %f2, %f2, %f3;"))
    assert stages(count(counter, module("row_sum"), sizes, {})) == (99, 0, 0)
    assert stages(count(counter, planted, sizes, {})) == (199, 0, 0)


HEAD = """\
// /// kernel
// op     = "row_sum"
// axes   = { rows = "1..8", cols = [4] }
// tune   = { way = WAYS }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[rows] <- y" }
//
// [[launch]]
// grid  = "1"
// block = "32"
// args  = ["y", "x", "rows", "3.0", "way"]
// ///
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 out) through(.param .b32 in)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [in];
    st.param.b32 [out], %r1;
    ret;
}
.visible .entry kernel(.param .u64 y, .param .u64 x, .param .u32 rows, .param .f32 by, .param .u32 way)
{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<24>;
    .reg .f32 %f<24>;
    .reg .f64 %d<4>;
    .reg .b64 %rd<16>;
    .shared .align 16 .b8 tile[512];
    .local .align 16 .b8 own[16];
    ld.param.u64 %rd1, [y];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [rows];
    ld.param.f32 %f9, [by];
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 4;
    mov.u32 %r4, tile;
    add.u32 %r4, %r4, %r3;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd1, %rd3;
    mul.wide.u32 %rd4, %r2, 16;
    add.u64 %rd4, %rd2, %rd4;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra SUMMED;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
    add.f32 %f1, %f1, %f2;
    add.f32 %f1, %f1, %f3;
    add.f32 %f1, %f1, %f4;
SUMMED:
    ld.param.u32 %r23, [way];
    WAY
STORE:
    @%p1 bra DONE;
    st.global.f32 [%rd3], %f1;
DONE:
    ret;
}
"""
KEPT = {
    "mov.b32 %r5, %f1; mov.u32 %r6, %r5; mov.b32 %f1, %r6;": 3,
    "mov.b64 %rd5, {%f2, %f1}; mov.u64 %rd6, %rd5; mov.b64 {%r5, %r6}, %rd6; mov.b32 %f1, %r6;": 3,
    "setp.eq.u32 %p2, %r1, 0; mov.b32 %r5, %f1; selp.b32 %r6, %r1, %r5, %p2; mov.b32 %f1, %r6;": 3,
    "mov.b32 %r5, %f1; shfl.sync.bfly.b32 %r6|%p2, %r5, 1, 31, -1; mov.b32 %f5, %r6; add.f32 %f1, %f1, %f5;": 4,
    "st.shared.f32 [%r4], %f1; bar.sync 0; ld.shared.b32 %r5, [%r4]; mov.b32 %f1, %r5;": 3,
    "mov.b32 %r5, %f1; st.shared.v2.b32 [%r4], {%r1, %r5}; ld.shared.b64 %rd5, [%r4]; mov.b64 {_, %f1}, %rd5;": 3,
    "st.local.f32 [own], %f1; ld.volatile.local.b32 %r5, [own]; mov.b32 %f1, %r5;": 3,
    "{.param .b32 a; .param .b32 b; st.param.f32 [a], %f1; call (b), through, (a); ld.param.b32 %r5, [b];}"
    "mov.b32 %f1, %r5;": 3,
    "st.shared.b32 [%r4], 0; atom.shared.add.f32 %f5, [%r4], %f1; atom.shared.add.f32 %f5, [%r4], %f1;"
    "ld.shared.f32 %f1, [%r4];": 4,
    "mov.b32 %r5, %f1; atom.shared.exch.b32 %r6, [%r4], %r5; atom.shared.cas.b32 %r7, [%r4], %r5, %r1;"
    "mov.b32 %f1, %r7;": 3,
    "mov.b32 %r5, %f1; and.b32 %r5, %r5, 0x7fffffff; xor.b32 %r5, %r5, 0x80000000; mov.b32 %f1, %r5;": 3,
    "neg.f32 %f1, %f1; abs.f32 %f1, %f1; max.f32 %f1, %f1, %f2; min.NaN.f32 %f1, %f1, %f1;": 3,
    "cvt.f64.f32 %d1, %f1; mov.b64 %rd5, %d1; mov.b64 %d2, %rd5; cvt.rn.f32.f64 %f1, %d2;": 3,
    "cvt.rni.f32.f32 %f1, %f1; add.f32 %f1, %f1, 0f3F800000;": 4,
    "fma.rn.f32 %f1, %f1, 0f40000000, %f2;": 4,  # a product with a constant, and one addition
    "fma.rm.f32 %f1, %f1, %f9, %f2; sub.rz.f32 %f1, %f1, %f2;": 5,
    "fma.rn.f32 %f1, %f3, %f4, %f2;": 1,
    "mul.f32 %f5, %f3, %f4; add.f32 %f1, %f5, %f2;": 1,
    "cvt.rn.f32.s32 %f5, %r1; mul.f32 %f1, %f1, %f5;": 3,  # an integer is a constant, as in the text
    "mov.b32 %r5, %f1; add.s32 %r5, %r5, 8388608; mov.b32 %f1, %r5;": 3,  # twice the number, by its exponent
}  # fmt: skip
"""Ways on which no count is lost, and how many additions there are at the end."""
LOST = (
    "mov.b32 %r5, %f1; add.s32 %r5, %r5, 1; mov.b32 %f1, %r5;",
    "mov.b32 %r5, %f1; shr.u32 %r5, %r5, 16; shl.b32 %r5, %r5, 16; mov.b32 %f1, %r5;",
    "cvt.rni.s32.f32 %r5, %f1; cvt.rn.f32.s32 %f1, %r5;",
    "mov.b32 {%h1, %h2}, %f1; mov.b32 %f1, {%h2, %h1};",
    "st.shared.f32 [%r4], %f1; ld.shared.u16 %r5, [%r4]; st.shared.u16 [%r4], %r5; ld.shared.f32 %f1, [%r4];",
    "mov.b32 %r5, %f1; st.shared.u32 [%r4], 0; atom.shared.or.b32 %r6, [%r4], %r5; ld.shared.f32 %f1, [%r4];",
    "mov.b32 %r5, %f1; not.b32 %r5, %r5; st.global.b32 [%rd3], %r5; bra DONE;",
)
HARMLESS = (
    "mov.b32 %r5, %f1; shr.u32 %r5, %r5, 16; setp.gt.u32 %p2, %r5, 7; @%p2 add.f32 %f1, %f1, 0f3F800000;",
    "st.shared.f32 [%r4], %f1; bar.sync 0; st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r4]; cvt.rn.f32.u32 %f5, %r5;"
    "add.f32 %f1, %f1, %f5;",
    "st.shared.u32 [%r4], 0; atom.shared.add.u32 %r5, [%r4], 1; ld.shared.u32 %r5, [%r4]; cvt.rn.f32.u32 %f5, %r5;"
    "add.f32 %f1, %f1, %f5;",
)
"""Where bits of a number are only compared, and where an integer lies in its place: one more addition."""


UNCOUNTED = "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f1, %h1;"
WAYS = (*KEPT, *HARMLESS, *LOST, UNCOUNTED)
SIZES = {"rows": 4, "cols": 4}


@pytest.fixture(scope="module")
def ways() -> Kernel:
    """A kernel that goes the way of this number, so that all are compiled at once."""
    goes = [f"setp.eq.u32 %p3, %r23, {i}; @%p3 bra WAY{i};" for i in range(len(WAYS))]
    lines = [*goes, *(f"WAY{i}: {way} bra STORE;" for i, way in enumerate(WAYS))]
    numbers = str(list(range(len(WAYS))))
    return read(parse(Path("ways.ptx").resolve(), HEAD.replace("WAYS", numbers).replace("WAY", "\n".join(lines))))


@pytest.mark.parametrize(("way", "adds"), [*KEPT.items(), *((one, 4) for one in HARMLESS)])
def test_a_number_keeps_its_count_on_every_way_that_moves_it(
    counter: Counter, ways: Kernel, way: str, adds: int
) -> None:
    counts = count(counter, ways, SIZES, {"way": WAYS.index(way)})
    assert (stages(counts)[0], counts.lost) == (adds, 0)


@pytest.mark.parametrize("way", LOST)
def test_what_integers_make_of_a_number_is_lost(counter: Counter, ways: Kernel, way: str) -> None:
    assert count(counter, ways, SIZES, {"way": WAYS.index(way)}).lost
    words = sampled(ways, SIZES, {"way": WAYS.index(way)}, counter)
    assert words == "numbers are moved as bits (memcpy, int4, atomicCAS), and what they went through is lost"


def test_an_instruction_that_does_not_count_is_one_line_if_a_thread_comes_to_it(counter: Counter, ways: Kernel) -> None:
    tune = {"way": WAYS.index(UNCOUNTED)}
    line = ways.source[: ways.source.index(UNCOUNTED)].count("\n") + 1
    words = f"ways.ptx:{line}: cvt.rn.f16.f32, whose roundings do not count"
    with pytest.raises(UncountedError, match=words):
        count(counter, ways, SIZES, tune)
    assert str(sampled(ways, SIZES, tune, counter)).endswith(words)


@needs_nvcc
@pytest.mark.parametrize(
    ("name", "more"),
    [
        pytest.param("reduce/block_sum.cu", (0, 0, 0), marks=pytest.mark.soak),
        pytest.param("gemv/split_k.cu", (0, 0, 0), marks=pytest.mark.soak),
        ("softmax/online_block.cu", (0, 5, 0)),  # expf is not a function there, but five additions and ex2.approx
    ],
)
def test_a_kernel_counts_through_nvcc_as_by_its_text(counter: Counter, name: str, more: tuple[int, ...]) -> None:
    kernel = load(KERNELS / name)
    axes = {axis: 3 if number == 0 else 300 for number, axis in enumerate(kernel.axes)}
    tune = next(kernel.tunes(axes))
    by_text, compiled = (sampled(one, axes, tune, counter) for one in (kernel, in_language(kernel, THROUGH["nvcc"])))
    assert not isinstance(by_text, str)
    adds = {stage: by_text.adds[stage] + more[place] for place, stage in enumerate(STAGES)}
    assert compiled == replace(by_text, adds=adds)

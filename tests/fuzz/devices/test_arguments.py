"""The arguments of a launch: scalars of every type, literals, and the arrays and sizes in one line of C++."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from with_nvcc import needs_nvcc

from kfuzz.campaign.trials.trial import Trial, run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import Kernel, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.devices import Call, ClaimError, Device, Entry, Probe
from kfuzz.devices.cpu.device import CpuDevice
from kfuzz.devices.gpu import device as gpu
from kfuzz.devices.gpu import machine_code

CLAIM = """\
// /// kernel
// op     = "transpose"
// axes   = { rows = "1..1", cols = "1..%(most)s" }
// tune   = { width = [4, 8] }
// let    = { last = "cols - 1" }
// arrays = { x = "f32[rows, cols] -> x", y = "f32[cols, rows] <- y" }
//
// [[launch]]
// %(what)s
// grid  = 1
// block = 32
// ///
%(source)s
"""


def kernel(what: str, source: str, most: str = "100") -> Kernel:
    return read(parse(Path("mine.cu"), CLAIM % {"what": what, "source": source, "most": most}))


@pytest.fixture(scope="module", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    made: Device = CpuDevice() if request.param == "cpu" else gpu.GpuDevice()
    yield made
    made.close()


def copied(device: Device, mine: Kernel, check: bool = False) -> Trial:
    x = np.arange(1, 41, dtype=np.float32).reshape(1, 40)
    return run_trial(mine, case_of("transpose", {"x": x}), {"width": 8}, device, Probe(check=check))


COPY = """
%(before)s
%(template)s
__global__ void copy(%(parameters)s) {
  for (int i = threadIdx.x; i < %(count)s; i += 32) y[i] = x[i]%(and)s;
}
"""


def copy(parameters: str, count: str = "n", also: str = "", before: str = "", template: str = "") -> str:
    return COPY % {"before": before, "template": template, "parameters": parameters, "count": count, "and": also}


ARGS = {
    "long long": ('["y", "x", "cols"]', copy("float *y, const float *x, long long n")),
    "size_t": ('["y", "x", "cols"]', copy("float *y, const float *x, size_t n")),
    "a size as a float": ('["y", "x", "cols"]', copy("float *y, const float *x, float n")),
    "a size as a double": ('["y", "x", "cols"]', copy("float *y, const float *x, double n")),
    "a typedef": ('["y", "x", "cols"]', copy("float *y, const float *x, index_t n", before="typedef long index_t;")),
    "bool": ('["y", "x", "cols", true]', copy("float *y, const float *x, int n, bool b", also=" * (b ? 1 : 2)")),
    "a tune as a char": (
        '["y", "x", "cols", "width"]',
        copy("float *y, const float *x, int n, char w", also=" + (w - 8)"),
    ),
    "literals": (
        '["y", "x", "cols", "1.0f", 0.5, 2, "nullptr", "0x10u"]',
        copy(
            "float *y, const float *x, int n, float one, double half, short two, const float *none, unsigned sixteen",
            also=" * one * (float)half * two + (none != nullptr) + (sixteen - 16u)",
        ),
    ),
    "a count between an 8-byte and a 1-byte one": (
        '["y", false, "x", "1.0", "cols", "last"]',
        copy(
            "float *y, bool a, const float *x, double one, short n, long long last", also=" * one + a + (last + 1 - n)"
        ),
    ),
    "infinity": (
        '["y", "x", "cols", "-INFINITY", inf]',
        copy("float *y, const float *x, int n, float low, double high", also=" + !(low < -1e38f && high > 1e300)"),
    ),
}

FUNCTORS = """
struct Load { const float *from; float scale; __device__ float operator()(long i) const { return from[i] * scale; } };
struct Store { float *to; __device__ void operator()(long i, float value) const { to[i] = value; } };
template <int width, class L, class S>
__global__ void copy(L load, S store, size_t n) {
  for (size_t i = threadIdx.x; i < n; i += 32) store(i, load(i) * width / 8);
}
"""
CALLS = {
    "functors": ("copy<8, Load, Store>(Load{x, 1.0f}, Store{y}, cols)", FUNCTORS),
    "a tune in the function": ("copy<{width}, Load, Store>(Load{x, 1}, Store{y}, cols)", FUNCTORS),
    "deduced": ("copy<8>(Load{x, 1.0f}, Store{y}, cols)", FUNCTORS),
    "deduced types": (
        "copy(y, x, cols)",
        copy("T *y, const U *x, I n", template="template <class T, typename U, class I, int step = 1, class = void>"),
    ),
    "what has a default": (
        "copy(y, x, cols)",
        copy(
            "float *y, const float *x, I n, float one = 1, I zero = 0",
            " (n + zero)",
            " * one",
            "",
            "template <class I>",
        ),
    ),
    "deduced in a namespace, by a struct": (
        "outer::inner::copy(y, Pair<float>{x, 1}, cols)",
        "namespace outer { struct Other {}; namespace inner { template <class T> struct Pair { T *x; T one; }; }\n"
        "using inner::Pair; namespace inner {"
        + copy("T *y, Pair<T> x, int n", template="template <class T, class... None>").replace("x[i]", "x.x[i] * x.one")
        + "} }\nusing outer::Pair;",
    ),
    "deduced, with a value for each type": (
        "copy(y, cols, x, 1.0f, 1.0)",
        "__device__ float both(const float *x, float a, double b, int i) { return x[i] * a * (float)b; }\n"
        "template <class... A> __global__ void copy(float *y, int n, A... given) {\n"
        "  for (int i = threadIdx.x; i < n; i += 32) y[i] = both(given..., i);\n}",
    ),
    "arithmetic": (
        "copy(y, x, rows * cols, 1.0f / cols)",
        copy("float *y, const float *x, long n, float f", also=" + (f >= 1)"),
    ),
    "vectors": (
        "copy(y, x, cols, make_float4(0, 0, 0, 1))",
        copy("float *y, const float *x, int n, float4 f", also=" * f.w + f.x"),
    ),
    "a template of the types": (
        "copy<float, const float, int>(y, x, cols)",
        copy("T *y, U *x, I n", template="template <class T, class U, class I>"),
    ),
    "an array behind its beginning": ("copy(y + 0, &x[cols - cols], cols)", copy("float *y, const float *x, int n")),
    "an odd struct between others": (
        "copy(y, Odd{1, 2, 3}, x, Odd{4, 5, 6}, cols)",
        copy(
            "float *y, Odd a, const float *x, Odd b, int n",
            also=" * (a.a == 1 && a.b == 2 && a.c == 3 && b.a == 4 && b.b == 5 && b.c == 6)",
            before="struct Odd { char a; short b; char c; };",
        ),
    ),
    "a qualified name": (
        "inner::copy(y, x, cols)",
        "namespace inner {" + copy("float *y, const float *x, unsigned long long n") + "}",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("name", ARGS)
def test_a_scalar_arrives_as_its_parameter_takes_it(device: Device, name: str, check: bool) -> None:
    args, source = ARGS[name]
    trial = copied(device, kernel(f'entry = "copy"\n// args = {args}', source), check)
    assert (trial.defects, trial.elements) == ((), 40)


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_one_line_of_cxx_makes_the_arguments(device: Device, name: str, check: bool) -> None:
    call, source = CALLS[name]
    trial = copied(device, kernel(f'call = "{call}"', source), check)
    assert (trial.defects, trial.elements) == ((), 40)


@pytest.mark.slow
def test_a_lambda_is_taken_where_a_launch_can_be_compiled_as_it_is() -> None:
    source = """
template <class F> __global__ void copy(F f, float *y, const float *x, int n) {
  for (int i = threadIdx.x; i < n; i += 32) y[i] = f(x[i]);
}"""
    for factor, is_right in (("1", True), ("2", False)):
        mine = kernel(f'call = "copy([](float v) {{ return {factor} * v; }}, y, x, cols)"', source)
        with CpuDevice() as cpu:
            assert (copied(cpu, mine).errors == ()) == is_right


@needs_nvcc
def test_a_lambda_that_nvcc_deduces_nothing_for_is_one_line() -> None:
    source = "template <class F> __global__ void copy(F f, float *y, const float *x, int n) {}"
    mine = kernel('call = "copy([](float v) { return v; }, y, x, cols)"', source)
    with pytest.raises(ClaimError, match=r"entry = 'copy\(\[\].*nvcc: a lambda is not allowed") as raised:
        machine_code.compile_kernel(mine.path, mine.source, (), mine.entries, "sm_90")
    assert "\n" not in str(raised.value)


def test_a_call_may_leave_out_what_has_a_default_and_nothing_else() -> None:
    few = copy("float *y, const float *x, int n, float one = 1")
    assert kernel('call = "copy(y, x, cols)"', few).entries[0].arguments == ("y", "x", "cols", "1")
    for call, given in (("copy(y, x)", 2), ("copy(y, x, cols, 1, 2)", 5)):
        with pytest.raises(ClaimError, match=f"{given} given; copy takes 4"):
            kernel(f'call = "{call}"', few)


def test_a_wrong_argument_is_seen(device: Device) -> None:
    call, source = CALLS["functors"]
    assert copied(device, kernel(f'call = "{call}"'.replace("1.0f", "2.0f"), source)).errors


def test_an_access_past_the_end_through_a_functor_has_its_line(cpu: CpuDevice) -> None:
    call, source = CALLS["functors"]
    mine = kernel(f'call = "{call}"'.replace("cols)", "cols + 1)"), source)
    defects = copied(cpu, mine, check=True).errors
    assert {defect.kind for defect in defects} >= {"out-of-bounds"}
    assert all(defect.line for defect in defects if defect.kind == "out-of-bounds")


OWN_NAMES = re.compile(r"\b(copy|Load|Store|Pair|Odd|Other|outer|inner|both|index_t)\b")


def numbered(name: str, number: int) -> Kernel:
    """The kernel of a launch, with a number in every name of its source, so that several fit into one file."""
    what = f'entry = "copy"\n// args = {ARGS[name][0]}' if name in ARGS else f'call = "{CALLS[name][0]}"'
    return kernel(*(OWN_NAMES.sub(rf"\1_{number}", text) for text in (what, (ARGS | CALLS)[name][1])))


def laid_out(names: Iterable[str], flags: tuple[str, ...]) -> dict[str, dict[Entry, machine_code.CodeEntry]]:
    """The entries of each launch; nvcc compiles all of them at once, since it takes longest for its own headers."""
    mine = {name: numbered(name, number) for number, name in enumerate(names)}
    source, entries = "\n".join(one.source for one in mine.values()), [one.entries for one in mine.values()]
    cubin = machine_code.compile_kernel(Path("mine.cu"), source, flags, tuple(chain(*entries)), "sm_90")
    return {name: {entry: cubin.entries[entry] for entry in one.entries} for name, one in mine.items()}


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize(("names", "flags"), [([*ARGS, *CALLS], ("-std=c++11",)), (["literals", "functors"], ())])
def test_nvcc_lays_the_arguments_out_as_it_reads_them(names: list[str], flags: tuple[str, ...]) -> None:
    """In C++11, the oldest dialect of nvcc that has templates of any number of types: a newer one lacks nothing.

    What kfuzz writes around a launch has two forms, for args and for a call. One of each is compiled in the compiler's
    own dialect, too. All of them were compiled in C++17 and C++20 once, with CUDA 13.
    """
    for name, there in laid_out(names, flags).items():
        assert there, name
        assert all(bool(one.pack) == isinstance(entry, Call) for entry, one in there.items()), name
        assert all(one.packed >= sum(one.parameters) for one in there.values()), name


def test_what_is_handed_over_as_it_is_needs_no_compiler() -> None:
    args = 'entry = "copy"\n// args = ["y", "x", "cols"]'
    assert kernel(args, copy("float *y, const float *x, int n")).entries == ("copy",)
    assert kernel(args, copy("float *y, const float *x, size_t n")).entries == ("copy",)
    assert kernel(args, copy("float *y, const float *x, float n")).entries == (
        Call("copy", ("y", "x", "cols"), ("void *y", "void *x", "int cols")),
    )


def test_a_size_beyond_an_int_needs_a_parameter_that_holds_it() -> None:
    args, wide = 'entry = "copy"\n// args = ["y", "x", "cols"]', "5000000000"
    assert kernel(args, copy("float *y, const float *x, long long n"), wide)
    with pytest.raises(ClaimError, match=r"'cols' is 5000000000 at .*; it is passed as an integer of 32 bits"):
        kernel(args, copy("float *y, const float *x, int n"), wide)
    with pytest.raises(ClaimError, match=r"'cols' is 32768 at .*; it is passed as an integer of 16 bits"):
        kernel(args, copy("float *y, const float *x, short n"), "32768")


WRONG = {
    'entry = "copy"\n// args = ["y", "x", "colz"]': "'colz' is no array, no size and no literal; this claim",
    'entry = "copy"\n// args = ["y", "x", "cols", 1]': "4 given; copy takes 3",
    'entry = "copy"\n// args = ["y", 1.5, "cols"]': "'1.5' is a literal; the parameter is 'const float \\*x'",
    'entry = "copy"\n// args = ["y", "x", "nullptr"]': "'nullptr' is a literal; the parameter is 'int n'",
    'entry = "copy"\n// args = ["y", "cols", "cols"]': "'cols' is a size; the parameter is 'const float \\*x'",
    'entry = "copy"\n// call = "copy(y, x, cols)"': "it says function and arguments itself; leave out entry",
    'call = "copy"': "one line of C\\+\\+ is expected",
    'call = "(y, x, cols)"': "one line of C\\+\\+ is expected",
    'call = "kopy(y, x, cols)"': "no such __global__ function in the source; it has copy",
    'call = "copy(x, y, cols) + (cols)"': "no such __global__ function in the source; it has copy",
    'call = "copy(y, x)"': "2 given; copy takes 3",
    'call = "copy(y, nothing, cols)"': "no launch takes 'x'",
}


@pytest.mark.parametrize("what", WRONG)
def test_a_launch_that_cannot_be_is_refused(what: str) -> None:
    with pytest.raises(ClaimError, match=WRONG[what]):
        kernel(what, copy("float *y, const float *x, int n"))


@pytest.mark.parametrize("call", ["copy(y, Load{x}, cols)", "copy(y, nowhere + (x - x), cols)", "copy<3>(y, x, cols)"])
def test_a_call_that_the_compiler_refuses_is_reported_in_the_compilers_words(call: str, device: Device) -> None:
    mine = kernel(f'call = "{call}"', copy("float *y, const float *x, int n"))
    with pytest.raises(ClaimError, match=r"mine\.cu"):
        copied(device, mine)

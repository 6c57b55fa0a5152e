"""The kernel's text fills in what a claim leaves out, and contradictions are reported with their line."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from our_kernels import every_kernel

from kfuzz.campaign.trials.trial import run_trial
from kfuzz.cases.case import case_of
from kfuzz.claims.kernel import KERNELS, Kernel, read
from kfuzz.claims.language.kernel_file import parse
from kfuzz.claims.language.text import facts, said_in
from kfuzz.devices import Device, Probe
from kfuzz.oracle.accuracy.rounding import EXP2_SCALED, EXPF, FAST_EXP2_SCALED, FAST_EXPF, ExpModel
from kfuzz.ui.commands.group import main
from kfuzz.ui.reports.claims import claim_notes
from kfuzz.ui.reports.inferred import inferred_parts

SAFE = KERNELS / "softmax" / "safe_block.cu"
FLASH = "exp2f(fmaf(value, LOG2E, -max * LOG2E))"


def safe(*changes: tuple[str, str]) -> Kernel:
    """softmax/safe_block with other words in its claim and its text, each of which must be there."""
    source = SAFE.read_text(encoding="utf-8")
    for was, becomes in changes:
        assert was in source, was
        source = source.replace(was, becomes)
    return read(
        parse(Path("mine.cu"), source.replace("__global__", "#define LOG2E 1.4426950408889634f\n__global__", 1))
    )


SILENT = ('// exp      = "expf"\n', "")
FAST = ("expf(value - max)", "__expf(value - max)")
IN_BASE_2 = ("expf(value - max)", FLASH)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("y = __expf(x);", "exp", "__expf"),
        ("#define EXP __expf\n", "exp", "__expf"),
        (f"y = {FLASH};", "exp", "exp2 scaled"),
        ("y = exp2f(x * scale_log2 - max_log2e);", "exp", "exp2 scaled"),
        ("y = exp2f(x * 1.44269504f - m * 1.44269504f);", "exp", "exp2 scaled"),
        ("y = exp2f((x - m) * M_LOG2E);", "exp", "[5, 1.225]"),
        ("const float L = 1.4426950408889634f; y = exp2f((x - m) * L);", "exp", "[5, 1.225]"),
        ("y = exp2f(x * K - m * K);\n#define K 1.44269504f", "exp", "exp2 scaled"),
        ("constexpr float L{0.4342944819f}; y = exp10f(L * (x - m));", "exp", "[5, 1.391]"),
        ("y = exp2f(kLog2e * (x - m));", "exp", "[5, 1.225]"),
        ("y = exp10f((x - m) * 0.4342944819032518f);", "exp", "[5, 1.391]"),
        ("y = exp10f(LOG10E * (x - m));", "exp", "[5, 1.391]"),
        ("y = __exp10f((x - m) * LOG10E);", "exp", "[5, 3.954]"),
        ("y = exp2f((x - m) / 0.6931472f);", "exp", "[5, 1.225]"),
        ("y = powf(2.71828182845904523536f, x - m);", "exp", "[9, 0.51]"),
        ("y = powf(2.71828f, x - m);", "exp", "[9, 10.811]"),
        ("constexpr float E = 2.7182817f; y = powf(E, x - m);", "exp", "[9, 0.51]"),
        ("y = powf(E, x - m);\n#define E 2.7182817f", "exp", "[9, 0.51]"),
        ("y = __powf(2.7182817f, x - m);", "exp", "[5, 5.51]"),
        ("y = pow(2.71828, x - m);", "exp", "[5, 11.286]"),
        ("y = powf(2.7182817f, x - m) + __expf(x - m);", "exp", "__expf"),
        ("wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;", "accumulate", "mma"),
        ("wmma::fragment<wmma::accumulator, 16, 16, 16, half> sums;", "accumulate", "f16"),
        ('asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}, {%1};");', "accumulate", "mma"),
        ('asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0}, {%1};");', "accumulate", "f16"),
        ('y = x * LOG2E; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));', "exp", "__exp2f scaled"),
        ("y = __fdividef(e, s);", "divide", "fast reciprocal"),
        ("y = e * __frcp_rn(s);", "divide", "reciprocal"),
        ("y = e * __frcp_rn(s) + __fdividef(e, s);", "divide", "fast reciprocal"),
        ("y = e * __frcp_rz(s);", "divide", "fast reciprocal"),
        ("__global__ void k(float *y) { atomicAdd(&y[i], v); }", "atomics", "global"),
        ("sum = __fadd_rz(sum, x[i]);", "additions", "directed"),
        ("sum = __fmaf_ru(a, b, sum);", "additions", "directed"),
        ("sums = __ffma2_rz(a, b, sums);", "additions", "directed"),
        ("__global__ void k(float *y) { atomicAdd(y + i, v); }", "atomics", "global"),
        ("// nvcc -O3 -use_fast_math mine.cu", "flags", "-use_fast_math"),
    ],
)
def test_what_a_text_says_plainly(text: str, key: str, value: str) -> None:
    said = said_in(f"\n{text}", facts)[key]
    assert (said.value, said.line) == (value, 2)


@pytest.mark.parametrize(
    "text",
    [
        "y = expf(x);",
        "sum = __fadd_rn(sum, x[i]);",
        "// __expf would be faster, __fdividef too",
        'printf("__expf");',
        "y = exp2f(x);",
        "y = powf(2.718f, x - m);",
        "y = powf(base, x - m);",
        "y = powf(x, 2.71828f);",
        "y = pow(M_E, x - m);",
        "my__expf(x);",
        "__global__ void k(int *y) { atomicAdd(&y[0], 1); }",
        "__global__ void k(unsigned int *tickets, float *y) { atomicAdd(tickets, 1u); }",
        "__shared__ float near[32]; atomicAdd(&near[t], v);",
        "extern __shared__ float s[]; atomicAdd(s + t, v);",
        "__global__ void k(double *y) { atomicAdd(y, 1.0); }",
        "// do not use -use_fast_math",
    ],
)
def test_what_a_text_does_not_say(text: str) -> None:
    assert said_in(text, facts) == {}


@pytest.mark.parametrize(
    "text",
    ["y = __logf(s);", "y = x - (m + tl.log2(s));", "y = hlog(s);", 'asm("lg2.approx.f32 %0, %1;");', "log_softmax(x)"],
)
def test_a_call_that_the_usual_forms_do_not_make_may_mean_any_form(text: str) -> None:
    said = said_in(f"\n{text}", facts, seldom={"log"})["form"]
    assert (said.value, said.line) == ("any", 2)
    assert "form" not in said_in(text, facts)
    assert "form" not in said_in("y = LOG2E * x; // log(s) would do", facts, seldom={"log"})


def test_a_rounding_that_is_left_out_is_inferred_and_noted() -> None:
    assert safe(SILENT).rounding.models.exp == EXPF
    fast = safe(SILENT, FAST)
    assert fast.rounding.models.exp == FAST_EXPF
    (note,) = inferred_parts(fast)
    assert note.startswith('exp = "__expf", line ')
    assert not list(claim_notes(fast))
    assert "__expf(value - max)" in note
    assert safe(SILENT, IN_BASE_2).rounding.models.exp == EXP2_SCALED
    assert safe(SILENT, ("expf(value - max)", "exp2f((value - max) * LOG2E)")).rounding.models.exp == ExpModel(5, 1.225)
    in_base_ten = safe(SILENT, ("expf(value - max)", "exp10f((value - max) * 0.4342944819f)"))
    assert in_base_ten.rounding.models.exp == ExpModel(5, 1.391)
    divided = safe(('// divide   = "ieee"\n', ""), ("expf(value - max)", "__fdividef(value, max)"))
    assert divided.rounding.models.divide == "fast reciprocal"


def test_fast_math_of_a_command_line_in_the_text_is_taken_for_the_flags() -> None:
    kernel = safe(SILENT, ('// divide   = "ieee"\n', ""), ("__global__", "// nvcc -use_fast_math mine.cu\n__global__"))
    assert kernel.flags == ("-use_fast_math",)
    assert (kernel.rounding.models.exp, kernel.rounding.models.ftz) == (FAST_EXPF, True)


@pytest.mark.parametrize(
    ("claim", "change", "wanted"),
    [
        ('exp      = "expf"', FAST, 'exp = "__expf"'),
        ("exp      = [5, 0.25]", IN_BASE_2, 'exp = "exp2 scaled"'),
        ('exp      = "expf"', IN_BASE_2, 'exp = "exp2 scaled"'),
        ('divide   = "ieee"', ("expf(value - max)", "__fdividef(value, max)"), 'divide = "fast reciprocal"'),
    ],
)
def test_a_claim_that_denies_the_text_is_a_warning_that_shows_the_line(
    claim: str, change: tuple[str, str], wanted: str
) -> None:
    was = 'divide   = "ieee"' if claim.startswith("divide") else 'exp      = "expf"'
    kernel = safe((was, claim), change)
    (warning,) = claim_notes(kernel)
    assert warning.startswith("warning: mine.cu:")
    assert change[1] in warning
    assert warning.endswith(wanted)


def test_a_claim_that_allows_more_than_the_text_needs_is_no_matter() -> None:
    assert list(claim_notes(safe(('exp      = "expf"', 'exp      = "__expf"')))) == []
    assert list(claim_notes(safe(('exp      = "expf"', "exp      = [5, 2.4]"), FAST))) == []
    assert list(claim_notes(safe(('exp      = "expf"', 'exp      = "__exp2f scaled"'), IN_BASE_2))) == []
    assert safe(('exp      = "expf"', 'exp      = "__exp2f scaled"')).rounding.models.exp == FAST_EXP2_SCALED


def test_a_silent_claim_keeps_a_fast_kernel_and_a_claim_in_words_does_not(device: Device) -> None:
    x = np.random.default_rng(1).uniform(-60, 0, (3, 32)).astype("f4")
    x[:, 0] = 0
    case = case_of("softmax", {"x": x})
    assert run_trial(safe(SILENT, FAST), case, {}, device, Probe()).errors == ()
    (wrong,) = run_trial(safe(FAST), case, {}, device, Probe()).errors
    assert 'for this line it is exp = "__expf"' in wrong.message


def test_flash_attentions_exponent_is_kept_and_an_accusation_names_its_word(device: Device) -> None:
    x = (1000 + np.random.default_rng(2).standard_normal((3, 32))).astype("f4")
    case = case_of("softmax", {"x": x})
    unfused = ("expf(value - max)", "exp2f(value * LOG2E - max * LOG2E)")
    for change in (IN_BASE_2, unfused):
        assert run_trial(safe(SILENT, change), case, {}, device, Probe()).errors == ()
    claimed = ('exp      = "expf"', "exp      = [5, 0.25]")
    (wrong,) = run_trial(safe(claimed, unfused), case, {}, device, Probe()).errors
    assert 'exp = "exp2 scaled"' in wrong.message


@pytest.mark.parametrize("answer", ["expf(value - (max + logf(sum)))", "expf((value - max) - logf(sum))"])
def test_a_softmax_by_the_logarithm_of_its_sum_is_kept_unless_it_claims_to_divide(answer: str, device: Device) -> None:
    x = (1000 + 20 * np.random.default_rng(2).standard_normal((20, 32))).astype("f4")
    case, change = case_of("softmax", {"x": x}), ("= e / sum", f"= {answer}")
    assert run_trial(safe(change), case, {}, device, Probe()).errors == ()
    assert 'form = "any"' in "".join(inferred_parts(safe(change)))
    (wrong,) = run_trial(
        safe(change, SILENT, ("[accuracy]", '[accuracy]\n// form = "e / s"')), case, {}, device, Probe()
    ).errors
    assert wrong.kind == "numeric"


def test_only_rows_with_minus_infinity_are_wrong_and_finite_would_have_kept_it(device: Device) -> None:
    kernel = next(kernel for kernel in every_kernel() if kernel.name == "broken/leading_neg_inf")
    rows = np.zeros((3, 40), "f4")
    rows[1, 0] = -np.inf
    tune = next(kernel.tunes({"rows": 3, "cols": 40}))
    (wrong,) = run_trial(kernel, case_of("softmax", {"x": rows}), tune, device, Probe()).errors
    assert wrong.message.count("only rows with -inf are wrong: [values] finite = true keeps it") == 1
    (alone,) = run_trial(kernel, case_of("softmax", {"x": rows[1:2]}), tune, device, Probe()).errors
    assert "[values] finite = true leaves such rows out" in alone.message


def test_a_wrong_row_without_minus_infinity_gets_no_such_advice(device: Device) -> None:
    kernel = next(kernel for kernel in every_kernel() if kernel.name == "broken/max_starts_at_zero")
    rows = np.full((2, 40), -200, "f4")
    rows[1, 0] = -np.inf
    tune = next(kernel.tunes({"rows": 2, "cols": 40}))
    (wrong,) = run_trial(kernel, case_of("softmax", {"x": rows}), tune, device, Probe()).errors
    assert "finite = true" not in wrong.message


def test_the_notes_stand_on_the_terminal_and_in_the_report(tmp_path: Path) -> None:
    source = SAFE.read_text(encoding="utf-8").replace(*SILENT).replace(*FAST)
    (tmp_path / "mine.cu").write_text(source, encoding="utf-8")
    report = tmp_path / "report.json"
    arguments = ["fuzz", str(tmp_path / "mine.cu"), "--device", "cpu", "--max-cases", "2", "--jobs", "1", "--seed", "1",
                 "--corpus", str(tmp_path / "corpus"), "--json", str(report), "--verbose"]  # fmt: skip
    done = CliRunner().invoke(main, arguments)
    assert done.output.count('mine: inferred, not written: exp = "__expf", line ') == 1
    found = json.loads(report.read_text())["kernels"][0]["inferred"]
    assert found["parts"][0].startswith('exp = "__expf", line ')
    assert "may find more" in found["would_change"]
    shown = CliRunner().invoke(main, ["show", str(tmp_path / "mine.cu")])
    assert 'inferred, not written: exp = "__expf"' in shown.output


def test_our_own_kernels_say_in_words_which_exp_they_use() -> None:
    """Otherwise a mutant with a fast exp would be taken at its word."""
    for kernel in every_kernel():
        if "expf(" in kernel.source:
            assert kernel.written.accuracy.exp is not None, kernel.name


@pytest.mark.parametrize(
    ("power", "kinds"),
    [
        ("powf(2.71828182845904523536f, value - max)", set()),
        ("powf(2.71828f, value - max)", set()),
        ("__powf(2.7182817f, value - max)", set()),
        ("exp2f((value - max) / 0.6931472f)", set()),
        ("__exp10f((value - max) * 0.4342944819f)", set()),
        ("powf(2.718f, value - max)", {"numeric"}),
        ("powf(2.71828182845904523536f, max - value)", {"numeric"}),
        ("exp2f((value - max) / 0.69314f)", {"numeric"}),
    ],
)
def test_powers_of_e_are_kept_as_what_they_are_and_a_wrong_base_is_found(
    device: Device, power: str, kinds: set[str]
) -> None:
    x = np.random.default_rng(1).uniform(-80, 0, (16, 32)).astype("f4")
    x[:, 0] = 0
    trial = run_trial(safe(SILENT, ("expf(value - max)", power)), case_of("softmax", {"x": x}), {}, device, Probe())
    assert {defect.kind for defect in trial.errors} == kinds

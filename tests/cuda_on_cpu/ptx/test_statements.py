"""How asm statements are read and refused: no modifier, operand or line is lost."""

import pytest

from kfuzz.common.text.cuda_text import blank_non_code
from kfuzz.devices.cpu.ptx.grammar import read_program
from kfuzz.devices.cpu.ptx.statements import Refused, Translated, translate_statements
from kfuzz.devices.cpu.ptx.table import every_row


def read(source: str) -> list[Translated | Refused]:
    return list(translate_statements(source, blank_non_code(source)))


def translated(source: str) -> str:
    """The C++ for the only statement of a source."""
    (one,) = read(source)
    assert isinstance(one, Translated), one
    return one.text


def refused(source: str) -> tuple[str, int]:
    """Why the only statement of a source is refused, and on which of its lines."""
    (one,) = read(source)
    assert isinstance(one, Refused), one
    return one.why, one.line


REFUSED = {
    "tcgen05.shift.cta_group::1.down;": "the PTX instruction tcgen05.shift.cta_group::1.down",
    "add.rn.ftz.sat.f64 %0, %1, %1;": "the PTX instruction add.rn.ftz.sat.f64",
    "add.s32.sat %0, %1, %1;": "the PTX instruction add.s32.sat",
    "fma.f32 %0, %1, %1, %1;": "the PTX instruction fma.f32",  # PTX wants its rounding
    "ex2.approx.f32 %0;": "the PTX instruction ex2.approx.f32 with these operands",
    "max.u32 %0, %1, %1, %1;": "the PTX instruction max.u32 with these operands",
    "mov.u32 %0, %1, %1;": "the PTX instruction mov.u32 with these operands",
    "mov.b64 {%0, %0}, {%1, %1};": "the PTX instruction mov.b64 with these operands",
    "mov.u32 %0, [%1];": "the PTX instruction mov.u32 with these operands",
    "mov.u32 %0, %2;": "the PTX operand %2",
    "mov.u32 %0, %%nobody;": "the PTX operand %%nobody",
    "mov.u32 %0, name;": "the PTX operand name",
    "ld.global.nc.cg.L2::cache_hint.u32 %0, [%1];": "the PTX instruction ld.global.nc.cg.L2::cache_hint.u32 with",
    "ld.global.u32 %0, [%1], %1;": "the PTX instruction ld.global.u32 with these operands",
    "ld.global.later.u32 %0, [%1];": "the PTX instruction ld.global.later.u32",
    "ld.global.ca.cg.u32 %0, [%1];": "the PTX instruction ld.global.ca.cg.u32",
    "ld.acquire.u32 %0, [%1];": "the PTX instruction ld.acquire.u32",  # without a scope
    "ld.shared.nc.u32 %0, [%1];": "the PTX instruction ld.shared.nc.u32",
    "st.acquire.gpu.u32 [%1], %0;": "the PTX instruction st.acquire.gpu.u32",
    "red.exch.b32 [%1], %0;": "the PTX instruction red.exch.b32",
    "atom.add.f16x2 %0, [%1], %0;": "the PTX instruction atom.add.f16x2",  # PTX wants .noftz
    "cvt.f32.s32 %0, %1;": "the PTX instruction cvt.f32.s32",  # PTX wants a rounding
    "cvt.rn.s32.f32 %0, %1;": "the PTX instruction cvt.rn.s32.f32",
    "cvt.sat.u32.u16 %0, %1;": "the PTX instruction cvt.sat.u32.u16",  # which needs none
    "cvt.rn.f64.f32 %0, %1;": "the PTX instruction cvt.rn.f64.f32",
    "setp.lo.s32 %0, %1, %1;": "the PTX instruction setp.lo.s32",
    "setp.ltu.u32 %0, %1, %1;": "the PTX instruction setp.ltu.u32",
    "bar.red.popc.u32 %0, 3, %1;": "the PTX instruction bar.red.popc.u32 with these operands",
    "addc.u32 %0, %1, %1;": "a carry from another asm statement (addc.u32)",
    "bra NOWHERE;": "the PTX operand NOWHERE",
    "{ add.u32 %0, %1, 1;": "braces that stay open",
    "add.u32 %0, %1, 1; }": "a brace that nothing opens",
    ".reg .v3 .f32 three;": "PTX registers of type .v3",
    ".shared .b32 x;": "a declaration in an asm statement (.shared x)",
    "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%0}, [%1];": "the PTX instruction ldmatrix.sync.aligned.m8n8.x3",
    "ldmatrix.sync.aligned.m8n8.x1.trans.trans.shared.b16 {%0}, [%1];": "the PTX instruction ldmatrix.sync",
    "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%0}, {%1};": "the PTX instruction mma.sync",
    "mma.sync.aligned.m16n8k32.row.col.s32.b1.b1.s32.and.popc {%0}, {%1};": "the PTX instruction mma.sync",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {%0}, {%1};": "the PTX instruction mma.sync",
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {0, 0, 0}];": (
        "the PTX instruction cp.async.bulk.tensor.3d.shared::cluster.global.im2col"
    ),
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {0}];": (
        "the PTX instruction cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4"
    ),
    "tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %1, [%1], %1, 1;": "the PTX instruction tcgen05.mma.sp",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_understood_as_a_whole_is_refused(text: str) -> None:
    why, line = refused(f'asm volatile("{text}" : "=r"(a) : "r"(b));')
    assert why.startswith(REFUSED[text])
    assert line == 0


@pytest.mark.parametrize(
    ("usual", "other", "operands"),
    [
        ("atom.release.sys.global.add.s32", "atom.add.release.sys.global.s32", "%0, [%1], %0"),
        ("red.relaxed.gpu.max.u32", "red.max.relaxed.gpu.u32", "[%1], %0"),
        ("fence.acq_rel.sys", "fence.release.sys", ""),
        ("fence.acq_rel.cta", "fence.acquire.cta", ""),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
            "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.tile",
            "[%0], [%1, {%0, %0}], [%0]",
        ),
        (
            "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group",
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.tile",
            "[%1, {%0}], [%0]",
        ),
    ],
)
def test_words_come_in_any_order_that_people_write(usual: str, other: str, operands: str) -> None:
    """And a fence that only acquires or only releases counts as one that does both."""
    one, same = (translated(f'asm volatile("{name} {operands};" : "+r"(a) : "l"(b));') for name in (usual, other))
    assert one == same


def test_a_refusal_names_the_line_of_the_instruction() -> None:
    source = 'asm volatile(\n  "{ .reg .pred p;\\n"\n  "  setp.eq.u32 p, %0, 0;\\n"\n  "  @p brkpt.here; }" :: "r"(a));'
    assert refused(source) == ("the PTX instruction brkpt.here", 3)


def test_each_instruction_stays_on_its_line() -> None:
    source = 'asm volatile(\n  "add.u32 %0, %1, 1;\\n"\n  "\\tmul.lo.u32 %0, %0, %0;"\n  : "=r"(a)\n  : "r"(b));\n'
    lines = translated(source).split("\n")
    assert len(lines) == source.count("\n")
    assert ["ptx_add<" in line for line in lines] == [False, True, False, False, False]
    assert ["ptx_mul_lo<" in line for line in lines] == [False, False, True, False, False]


def test_a_statement_in_a_macro_stays_in_it() -> None:
    source = '#define ADD(d, a) \\\n  asm("add.u32 %0, %1, 1;" \\\n      : "=r"(d) \\\n      : "r"(a)); \\\n  use(d)\n'
    text = translated(source)
    assert text.count("\n") == text.count("\\\n") == 2
    assert "(d)" in text


def test_operands_are_evaluated_once_and_written_at_the_end() -> None:
    text = translated('asm("add.u32 %0, %1, %1;" : "=&r"(y[i++]) : "r"(next()));')
    assert text.count("y[i++]") == text.count("next()") == 1
    assert text.index("ptx_add") < text.index("ptx_give(")
    both = translated('asm("add.u32 %0, %0, 1;" : "+r"(sum));')
    assert "cuda_on_cpu_0 = ::cuda_on_cpu::ptx_given" in both
    assert "PtxUnwritten" not in both


def test_a_constant_is_an_operand_too() -> None:
    assert "const auto cuda_on_cpu_0 = (SIZE);" in translated('asm("nanosleep.u32 %0;" :: "n"(SIZE));')
    assert refused('asm("add.u32 %0, %0, 1;" : "+m"(x));')[0] == 'the asm constraint "m"'
    assert refused('asm("%0" :: "C"(text));')[0].startswith("the PTX text")


def test_strings_that_macros_name_are_part_of_the_text() -> None:
    source = '#define HINT ".L1::no_allocate"\nasm("ld.global" HINT ".u32 %0, [%1];" : "=r"(a) : "l"(p));'
    assert "ptx_load<" in translated(source)
    two = '#ifdef A\n#define HINT ".cg"\n#else\n#define HINT ".ca"\n#endif\n'
    chosen = translated(two + 'asm("ld.global" HINT ".u32 %0, [%1];" : "=r"(a) : "l"(p));')
    assert [f'ptx_is_text(HINT, "{one}")' in chosen for one in (".cg", ".ca", ".cs")] == [True, True, False]
    assert ("u32, 1, true>" in chosen, "u32, 1, false>" in chosen) == (True, True)
    why, _ = refused('asm("ld.global" HINT ".u32 %0, [%1];" : "=r"(a) : "l"(p));')
    assert why == "a text that the macro HINT completes"
    assert refused('asm("setp." #how ".u32 %0, %0, 1;" :: "r"(a));')[0].startswith("a text with '#' in it")
    assert "ptx_add" in translated('asm(R"(add.u32 %0, %0, 1;)" /* not ":" */ : "+r"(a) // "=r"(c)\n : : "memory");')


CHOICE = """asm volatile("{.reg .pred p;\\n setp.ne.b32 p, %2, 0;\\n"
#if __CUDACC_VER_MAJOR__ >= 11
 " @p ld.global.nc.L2::128B.f32 %0, [%1];}\\n"
#else
 " @p ld.global.nc.f32 %0, [%1];}\\n"
#endif
 : "+f"(to) : "l"(from), "r"(guard));"""


def test_where_the_preprocessor_chooses_each_choice_is_translated() -> None:
    alike = translated(CHOICE)
    assert "#" not in alike
    apart = translated(CHOICE.replace("nc.f32 %0, [%1];", "f32 %0, [%1+4];"))
    assert [line for line in apart.split("\n") if line.startswith("#")] == [
        "#if __CUDACC_VER_MAJOR__ >= 11", "#else", "#endif"
    ]  # fmt: skip
    assert apart.count("\n") == CHOICE.count("\n")
    assert "tcgen05" in refused(CHOICE.replace("ld.global.nc.f32 %0, [%1];", "tcgen05.shift.cta_group::1.down;"))[0]
    alone = 'asm("add.u32 %0, %1, 1;"\n#ifdef MORE\n  "add.u32 %0, %0, 1;"\n#endif\n  : "=r"(a)\n  : "r"(b)\n  :\n);'
    with_more, without = translated(alone).split("#else")
    assert (with_more.count("ptx_add"), without.count("ptx_add")) == (2, 1)


def test_names_belong_to_their_braces() -> None:
    text = "{ .reg .u32 a, b<2>; L: { .reg .u32 a; mov.u32 a, b1; } bra L; }"
    program = read_program(text, [0] * len(text))
    outer, first, second, inner = (one.name for one in program.registers)
    assert len({outer, first, second, inner}) == 4
    moved = str(program.items[1])
    assert inner in moved
    assert second in moved
    assert outer not in moved


def test_labels_with_numbers_and_special_registers_are_known() -> None:
    text = translated('asm volatile("L_%=: mov.u32 %0, %%tid.x; @%%p bra L_%=;" : "=r"(a));'.replace("@%%p ", ""))
    assert "threadIdx.x" in text
    assert "goto cuda_on_cpu_to_L__0;" in text
    assert "__label__ cuda_on_cpu_to_L__0;" in text


def test_an_empty_statement_accesses_none_of_its_operands() -> None:
    assert translated('asm volatile("" : "+f"(sum[0]) :: "memory");').split() == ["({", "})"]


def test_a_product_gets_the_variables_of_its_sums_and_no_copies() -> None:
    text = (
        'asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "'
        '"%5, 1, 1, -1, 0;"'
        ': "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "l"(b));'
    )
    made = translated(text)
    assert "CUDA_ON_CPU_PLACE(d[0]), CUDA_ON_CPU_PLACE(d[1])" in made
    assert "ptx_give(" not in made
    assert "negates_b = ::cuda_on_cpu::ptx_flag< true>(-1LL)" in made


def test_an_empty_statement_orders_only_the_compiler() -> None:
    assert translated('asm volatile("" ::: "memory");').split() == ["({", "})"]


def test_no_row_is_there_twice() -> None:
    rows = [(pattern.pattern, template) for pattern, template in every_row()]
    assert len(set(rows)) == len(rows)

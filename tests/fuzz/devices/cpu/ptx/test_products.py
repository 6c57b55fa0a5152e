"""What the products of a kernel make of their operands, by its text."""

import pytest

from kfuzz.devices.cpu.ptx.products import operand_in_cuda, operand_in_module

HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
PRODUCTS = {
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {}, {}, {}, {};": "tf32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {};": "tf32",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {};": "tf32",
    "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {};": "tf32",
    "tcgen05.mma.cta_group::1.kind::tf32 [x], a, b, c, p;": "tf32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {};": "",
    "cvt.rna.tf32.f32 %r1, %f1;": "",  # only a conversion
    "fma.rn.f32 %f1, %f2, %f3, %f4; // not mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32": "",
}


@pytest.mark.parametrize("text", PRODUCTS)
def test_an_instruction_says_it(text: str) -> None:
    module = f"{HEAD}.visible .entry mine() {{\n{text}\nret;\n}}\n"
    assert operand_in_module(module, "mine") == PRODUCTS[text]


def test_another_kernel_of_the_module_does_not_count_and_a_function_does() -> None:
    product = next(iter(PRODUCTS))
    other = f"{HEAD}.visible .entry other() {{\n{product}\nret;\n}}\n.visible .entry mine() {{\nret;\n}}\n"
    assert [operand_in_module(other, name) for name in ("mine", "other")] == ["", "tf32"]
    called = f"{HEAD}.func inner() {{\n{product}\nret;\n}}\n.visible .entry mine() {{\ncall inner, ();\nret;\n}}\n"
    assert operand_in_module(called, "mine") == "tf32"


def test_a_fragment_and_an_asm_statement_of_cuda_say_it() -> None:
    fragment = "wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;"
    assert operand_in_cuda(fragment) == "tf32"
    assert operand_in_cuda('asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0};");') == "tf32"
    assert operand_in_cuda(f"// {fragment}\nfloat tf32 = 0;") == ""

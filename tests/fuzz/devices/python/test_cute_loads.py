"""Vector loads in PTX that LLVM has widened past what the kernel reads."""

from kfuzz.devices.python.cute.loads import narrow_loads

LOAD = "@%p1 ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%rd2+16];\n"
USES = "st.global.v2.b32 [%rd3], {%r2, %r3};\n"
HEAD = ".visible .entry f()\n{\n"


def test_the_last_parts_that_nothing_uses_are_not_loaded() -> None:
    three = "@%p1 ld.global.v2.b32 {%r2, %r3}, [%rd2+16]; @%p1 ld.global.b32 %r4, [%rd2+24];\n"
    assert narrow_loads(HEAD + LOAD + USES + "st.global.b32 [%rd3+8], %r4;\n}\n") == (
        HEAD + three + USES + "st.global.b32 [%rd3+8], %r4;\n}\n"
    )
    two = "@%p1 ld.global.v2.b32 {%r2, %r3}, [%rd2+16];\n"
    assert narrow_loads(HEAD + LOAD + USES + "}\n") == HEAD + two + USES + "}\n"


def test_a_load_stays_whose_last_part_is_used_or_whose_parts_are_all_unused() -> None:
    for rest in ("st.global.b32 [%rd3], %r5;\n", ""):
        text = HEAD + LOAD + rest + "}\n"
        assert narrow_loads(text) == text


def test_registers_of_another_function_are_others() -> None:
    other = ".visible .entry g()\n{\nadd.u32 %r5, %r5, 1;\n}\n"
    assert "[%rd2+24]" not in narrow_loads(HEAD + LOAD + USES + "}\n" + other)
    assert "v4" not in narrow_loads(HEAD + LOAD + USES + "}\n" + other)

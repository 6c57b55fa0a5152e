"""A '{' that is never closed, and texts of which only the preprocessor knows."""

import pytest
from paths import KERNELS

from kfuzz.common.text.unclosed import find_unclosed

CUT = "void f(int n) {\n  if (n) {\n    g(n +"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CUT, 2),
        ("void f(int n) {\n  if (n) {\n    g(n);\n}\n", 1),
        (f"#ifdef A\nvoid g() {{ }}\n#else\nint g;\n#endif\n{CUT}", 7),
        (f"// {{\nconst char *a = \"}}\", b = '}}';\n{CUT}", 4),
        ("void f() {\n#if A\n  g();", 1),
    ],
)
def test_the_last_that_is_not_closed_is_found(text: str, line: int) -> None:
    assert find_unclosed(text) == line


@pytest.mark.parametrize(
    "text",
    [
        "void f() {}",
        "#define BEGIN void f() {\nBEGIN\n}\n",
        "#define END }\nvoid f() {\nEND\n",
        "#ifdef A\nvoid f() {\n#else\nvoid f(int n) {\n#endif\n}\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\nvoid f();\n#ifdef __cplusplus\n}\n#endif\n',
        'void f()\n#include "begin.inc"\n}\nvoid g() {\n',
    ],
)
def test_nothing_is_said_of_a_text_that_may_be_whole(text: str) -> None:
    assert find_unclosed(text) is None


def test_no_kernel_is_cut_off() -> None:
    every = [*KERNELS.rglob("*.cu"), *KERNELS.rglob("*.cuh")]
    assert len(every) > 100
    assert [path for path in every if find_unclosed(path.read_text()) is not None] == []

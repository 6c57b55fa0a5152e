"""__LINE__ and __FILE__ have the author's values, and what pastes or quotes them still compiles."""

from pathlib import Path

from kfuzz.devices.cpu.line_words import find_makers, replace_line_words

TEXT = """#define STRING(x) #x
#define TEXT(x) STRING(x)
#define NAME(x) PASTED(x, __LINE__)
#define PASTED(a, b) a ## b
#define CHECK(x) check(x, __FILE__, \\
                       __LINE__)
int line = __LINE__;
#if __LINE__ > 3
#endif
CHECK(1);
"""


def replace(text: str) -> str:
    for start, end, new in sorted(replace_line_words(text, Path("a/b.cu"), find_makers([text])), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def test_a_line_outside_of_macros_is_a_number() -> None:
    assert "int line = 7;" in replace(TEXT)
    assert replace("const char *f = __FILE__;") == 'const char *f = "a/b.cu";'


def test_a_line_in_a_macro_is_that_of_its_use() -> None:
    assert "check(x, __FILE__, \\\n                       (__LINE__%1000000))" in replace(TEXT)


def test_what_is_pasted_or_quoted_stays() -> None:
    assert find_makers([TEXT]) == {"STRING", "TEXT", "NAME", "PASTED"}
    assert "PASTED(x, __LINE__)" in replace(TEXT)
    assert replace("#define UNIQUE(x) x ## __LINE__\n") == "#define UNIQUE(x) x ## __LINE__\n"
    assert "#if __LINE__ > 3" in replace(TEXT)

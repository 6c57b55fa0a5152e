"""Python's reading of abi.h agrees with the compiler's: every size, offset, number and constant."""

import ast
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import ROOT

from kfuzz.devices.cpu import toolchain
from kfuzz.devices.cpu.abi import ABI, MIRRORS, load_header
from kfuzz.devices.cpu.header import Header
from kfuzz.devices.cpu.header_text import read_header

RUNTIME = toolchain.HOME / "runtime"
TEXT = (RUNTIME / "abi.h").read_text(encoding="utf-8")


def in_python(header: Header) -> Iterator[str]:
    """One line for each struct, each of its members, each word of an enumeration and each constant."""
    mirrors: dict[str, type[ctypes.Structure]] = {name: type(name, (ctypes.Structure,), {}) for name in MIRRORS}
    for name, mirror in mirrors.items():
        mirror._fields_ = header.fields(name, mirrors)
        yield f"{name} {ctypes.sizeof(mirror)}"
        for member in header.structs[name]:
            field = getattr(mirror, member.name)
            yield f"{name}.{member.name} {field.offset} {field.size}"
    for name, enumeration in header.enumerations.items():
        yield from (f"{name}::{word} {number}" for word, number in enumeration.numbers.items())
    yield from (f"{name} {number}" for name, number in header.constants.items())


def in_cpp(folder: Path, header: Header) -> list[str]:
    """The same lines, as a C++ compiler makes them of abi.h."""
    lines = []
    for name in MIRRORS:
        lines.append(f'std::printf("{name} %zu\\n", sizeof({name}));')
        for member in header.structs[name]:
            place = f"offsetof({name}, {member.name}), sizeof({name}::{member.name})"
            lines.append(f'std::printf("{name}.{member.name} %zu %zu\\n", {place});')
    for name, enumeration in header.enumerations.items():
        words = enumeration.numbers
        lines += [f'std::printf("{name}::{word} %d\\n", static_cast<int>({name}::{word}));' for word in words]
    lines += [f'std::printf("{name} %d\\n", static_cast<int>({name}));' for name in header.constants]
    body = "\n  ".join(lines)
    text = f'#include <cstdio>\n#include "abi.h"\nusing namespace cuda_on_cpu;\nint main() {{\n  {body}\n}}\n'
    (folder / "layout.cpp").write_text(text)
    program, include = folder / "layout", f"-I{RUNTIME}"
    options = ["-std=c++17", "-Wno-invalid-offsetof", include, str(folder / "layout.cpp"), "-o", str(program)]
    subprocess.run([toolchain.find_compiler(), *options], check=True, capture_output=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def test_python_and_the_compiler_read_the_interface_alike(tmp_path: Path) -> None:
    assert in_cpp(tmp_path, ABI) == list(in_python(ABI))


def test_every_struct_of_the_interface_is_read_but_for_those_of_the_libraries() -> None:
    assert ABI.structs.keys() - MIRRORS.keys() == {"Index", "ThreadPlace"}
    assert all(mirror._fields_ == ABI.fields(name, MIRRORS) for name, mirror in MIRRORS.items())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  uint32_t preempt_one_in;", "  uint64_t preempt_one_in;"),
        ("  int32_t buffer;", "  int32_t value_first, buffer;"),
        ("forward, reverse, shuffled", "reverse, forward, shuffled"),
        ("is_output = 2", "is_output = 8"),
        ("max_rank = 8", "max_rank = 9"),
    ],
)
def test_a_change_that_only_one_side_reads_is_noticed(tmp_path: Path, before: str, after: str) -> None:
    assert before in TEXT
    (tmp_path / "changed.h").write_text(TEXT.replace(before, after))
    changed = read_header(tmp_path / "changed.h")
    assert set(in_python(changed)) != set(in_python(ABI))


def test_the_cache_keeps_the_declarations_of_each_header_by_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KFUZZ_CACHE", str(tmp_path / "cache"))
    header = tmp_path / "changed.h"
    for text in (TEXT, TEXT, TEXT.replace("max_rank = 8", "max_rank = 9"), TEXT):
        header.write_text(text)
        expected = read_header(header)
        loaded = load_header(header)
        assert list(in_python(loaded)) == list(in_python(expected))
        assert loaded.structs == expected.structs
    assert len(list((tmp_path / "cache" / "cpu").glob("header-*.json"))) == 2


def test_only_the_first_process_loads_the_grammar(tmp_path: Path) -> None:
    code = "import sys, kfuzz.devices.cpu.abi; print('tree_sitter' in sys.modules)"
    environment = {**os.environ, "KFUZZ_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", code]
    printed = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [one.stdout for one in printed] == ["True\n", "False\n"]


def test_a_line_of_a_form_that_is_not_known_is_refused_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "odd.h").write_text("struct A {\n  int x;;;\n  @\n};\n")
    with pytest.raises(ValueError, match=r"odd\.h:\d: not a plain declaration"):
        read_header(tmp_path / "odd.h")


def unknown_words(text: str) -> list[str]:
    """Words that Python asks an enumeration for and that it does not have."""
    asked = (
        (node.value.id, node.attr)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ABI.enumerations
    )
    own = {"numbers", "word"}
    return [f"{name}.{word}" for name, word in asked if word not in {*ABI.enumerations[name].numbers, *own}]


def test_python_asks_for_no_word_that_the_header_lacks() -> None:
    texts = (path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("fuzz/**/*.py")))
    wrong = [word for text in texts if "kfuzz.devices.cpu.abi" in text for word in unknown_words(text)]
    assert wrong == []
    assert unknown_words("Status.finnished") == ["Status.finnished"]

"""The two sides of the runtime's interface: the structs of abi.h and their mirror in ctypes, byte for byte."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kfuzz.cpu import abi, toolchain
from kfuzz.cpu.findings import NAMES
from kfuzz.devices import host_compiler

RUNTIME = toolchain.HOME / "runtime"
STRUCTS: dict[str, type[ctypes.Structure]] = {
    "Entry": abi.RawEntry,
    "Module": abi.RawModule,
    "SharedArray": abi.RawSharedArray,
    "Variable": abi.RawVariable,
    "Buffer": abi.RawBuffer,
    "Argument": abi.RawArgument,
    "Step": abi.RawStep,
    "Given": abi.RawGiven,
    "Launched": abi.RawLaunched,
    "Finding": abi.RawFinding,
    "Run": abi.RawRun,
}
ENUMS: dict[str, dict[str, int]] = {
    "BufferFlags": {
        "has_content": abi.HAS_CONTENT,
        "is_output": abi.IS_OUTPUT,
        "is_initialised": abi.IS_INITIALISED,
        "is_allocated_by_host": abi.BY_HOST,
        "is_host_visible_memory": abi.HOST_VISIBLE,
        "is_freed": abi.FREED,
        "is_of_earlier_call": abi.OF_EARLIER_CALL,
        "is_taken_as_unwritten": abi.TAKEN_AS_UNWRITTEN,
        "is_written": abi.IS_WRITTEN,
    },
    "Schedule": {"forward": abi.FORWARD, "reverse": abi.REVERSE, "shuffled": abi.SHUFFLED},
    "Kind": {name: number for number, name in enumerate(NAMES)},
    "Place": {
        "nowhere": abi.NOWHERE,
        "buffer": abi.IN_BUFFER,
        "static_shared": abi.IN_STATIC_SHARED,
        "dynamic_shared": abi.IN_DYNAMIC_SHARED,
        "global_variable": abi.IN_GLOBAL_VARIABLE,
        "heap": abi.ON_HEAP,
    },
    "Relation": {
        "in_one_block": abi.IN_ONE_BLOCK,
        "in_other_blocks": abi.IN_OTHER_BLOCKS,
        "in_one_warp": abi.IN_ONE_WARP,
        "in_other_work": abi.IN_OTHER_WORK,
        "in_other_node": abi.IN_OTHER_NODE,
    },
    "Work": {
        "kernel": abi.OF_KERNEL,
        "copy": abi.OF_COPY,
        "set": abi.OF_SET,
        "host": abi.OF_THE_HOST,
        "callback": abi.OF_CALLBACK,
        "allocation": abi.OF_ALLOCATION,
        "freeing": abi.OF_FREEING,
        "operation": abi.OF_OPERATION,
    },
    "Traits": {
        "is_atomic": abi.IS_ATOMIC,
        "is_volatile": abi.IS_VOLATILE,
        "is_of_block_scope": abi.IS_OF_BLOCK_SCOPE,
    },
    "Assume": {
        "scopes_reach": abi.SCOPES_REACH,
        "atomics_release": abi.ATOMICS_RELEASE,
        "atomics_acquire": abi.ATOMICS_ACQUIRE,
        "volatile_is_atomic": abi.VOLATILE_IS_ATOMIC,
        "warps_in_step": abi.WARPS_IN_STEP,
    },
    "Status": {
        "finished": abi.FINISHED,
        "stopped": abi.STOPPED,
        "timed_out": abi.TIMED_OUT,
        "too_large": abi.TOO_LARGE,
        "refused": abi.REFUSED,
        "crowded": abi.CROWDED,
    },
}


def in_python() -> Iterator[str]:
    """One line for each struct, each of its members, and each word of an enumeration, as the mirror has them."""
    for name, struct in STRUCTS.items():
        yield f"{name} {ctypes.sizeof(struct)}"
        for member in struct._fields_:
            field = getattr(struct, member[0])
            yield f"{name}.{member[0]} {field.offset} {field.size}"
    for name, words in ENUMS.items():
        yield from (f"{name}::{word} {number}" for word, number in words.items())


def in_cpp(folder: Path, header: str) -> list[str]:
    """The same lines, as a C++ compiler makes them of a header."""
    (folder / "abi.h").write_text(header)
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'std::printf("{name} %zu\\n", sizeof({name}));')
        for member in struct._fields_:
            place = f"offsetof({name}, {member[0]}), sizeof({name}::{member[0]})"
            lines.append(f'std::printf("{name}.{member[0]} %zu %zu\\n", {place});')
    for name, words in ENUMS.items():
        lines += [f'std::printf("{name}::{word} %d\\n", static_cast<int>({name}::{word}));' for word in words]
    body = "\n  ".join(lines)
    text = f'#include <cstdio>\n#include "abi.h"\nusing namespace cuda_on_cpu;\nint main() {{\n  {body}\n}}\n'
    (folder / "layout.cpp").write_text(text)
    program = folder / "layout"
    words = ["-std=c++17", "-Wno-invalid-offsetof", str(folder / "layout.cpp"), "-o", str(program)]
    subprocess.run([host_compiler.find(), *words], check=True, capture_output=True)
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def members(header: str) -> dict[str, list[str]]:
    """The members of each struct and the words of each enumeration, as the header's text has them."""
    text = re.sub(r"//[^\n]*", "", header)
    found = {}
    for name, body in re.findall(r"\bstruct (?:alignas\(\d+\) )?(\w+) \{(.*?)\n\};", text, re.DOTALL):
        declared = [re.sub(r"\(\*(\w+)\)\(.*\)", r"\1", one) for one in body.split(";") if one.strip()]
        found[name] = [re.findall(r"(\w+)(?:\[\d+\])?\s*$", part)[0] for one in declared for part in one.split(",")]
    for name, body in re.findall(r"\benum (?:class )?(\w+) : \w+ \{(.*?)\};", text, re.DOTALL):
        found[name] = [one.partition("=")[0].strip() for one in body.split(",") if one.strip()]
    return found


HEADER = (RUNTIME / "abi.h").read_text(encoding="utf-8")


def test_python_and_cpp_lay_the_interface_out_alike(tmp_path: Path) -> None:
    assert in_cpp(tmp_path, HEADER) == list(in_python())


def test_neither_side_has_a_member_or_a_word_that_the_other_lacks() -> None:
    declared = members(HEADER)
    for name, struct in STRUCTS.items():
        assert declared[name] == [member[0] for member in struct._fields_], name
    for name, words in ENUMS.items():
        assert declared[name] == list(words), name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  uint32_t preempt_one_in;", "  uint64_t preempt_one_in;"),
        ("  int32_t buffer;", "  int32_t value_first, buffer;"),
        ("  race,\n  same_value_race,", "  same_value_race,\n  race,"),
        ("is_output = 2", "is_output = 8"),
    ],
)
def test_a_side_that_is_changed_alone_is_seen(tmp_path: Path, before: str, after: str) -> None:
    assert before in HEADER
    assert in_cpp(tmp_path, HEADER.replace(before, after)) != list(in_python())


def test_a_member_that_is_added_on_one_side_alone_is_seen() -> None:
    more = HEADER.replace("  const char *printed;\n", "  const char *printed;\n  uint32_t padding_has_room;\n")
    assert members(more)["Run"] != [member[0] for member in abi.RawRun._fields_]
    assert shutil.which(host_compiler.find())

"""The command-line words for the host's compiler: what each flavour needs, and what a claim's nvcc flags mean here.

Knows only the flags of g++, clang and nvcc; it starts none of them.
"""

import re
from dataclasses import dataclass
from typing import Literal

from kfuzz.common.text.flags import settings_of

Flavour = Literal["fast", "check", "count"]

LANGUAGE = ("-std=c++17",)
COMMON = (
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",  # sqrtf is an instruction, as it is on a GPU
    "-ffp-contract=off",  # fuse a multiplication and an addition only where the source says fma
    "-fno-stack-protector",
    "-fstack-clash-protection",  # a frame larger than the guard below a stack must still hit the guard
    "-fno-strict-aliasing",  # nvcc has none either, and kernels cast float * to float4 *
    "-fwrapv",  # what integers do on overflow on every GPU
    "-ftrivial-auto-var-init=pattern",  # a local without a value holds -1.7e38, not a value of another run
    "-U_FORTIFY_SOURCE",
    "-g1",  # lines, for findings
    "-Wuninitialized",  # becomes a finding; other warnings are dropped
)
_DEVICE_ALONE = ("-fno-exceptions", "-fno-rtti")
_WITH_HOST = (
    "-fno-builtin-printf",  # g++ would turn it into puts, which host/library.cpp does not catch
    "-fno-omit-frame-pointer",  # to find the calls of the host that lead to a launch (host/launches.cpp)
)
_FLAVOURS: dict[Flavour, tuple[str, ...]] = {
    "fast": ("-O2", "-fsanitize=alignment"),
    "check": (
        "-O1",  # with _EVERY_ACCESS
        "-DCUDA_ON_CPU_CHECK",
        "-fsanitize=thread",
        # Copies are checked as well: functions of our own make them (module.cpp), not code that g++ inserts.
        *("-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"),
        "-fno-plt",  # the hooks are called at every access
        "-fsanitize=bounds,alignment,integer-divide-by-zero",
    ),
    "count": ("-O1", "-DCUDA_ON_CPU_COUNT"),
}
# These passes of -O1 change accesses before they get their hooks. A load whose value is used in one branch only moves
# there, which hides an access out of bounds in the source. A load of an unchanged value leaves its loop, which hides
# polling. -Og has none of these passes, but is twice as slow, since it moves nothing else out of loops either. Blocks
# that are not reordered lie as in the source, so that lanes in step that have diverged meet again (warp.cpp).
_EVERY_ACCESS = tuple(
    f"-fno-{one}"
    for one in (
        *("tree-sink", "tree-loop-im", "tree-dominator-opts", "tree-ch", "tree-sra", "tree-dse", "ssa-phiopt"),
        "ipa-modref",
        "reorder-blocks",
    )
)
_HOOKS = ("tsan-instrument-func-entry-exit=0", "tsan-distinguish-volatile=1")
LINK = (
    "-shared",
    "-pipe",
    "-Wl,-z,now",
    # GNU ld would turn an indirect call of __tls_get_addr (module.cpp) into a direct one with prefixes in an order that
    # AMD's processors read as a call with a 16-bit address.
    "-Wl,--no-relax",
    # A compiler may have libstdc++ only as an archive. Its symbols must not resolve to those of another version that
    # Python has loaded, which numbers its facets differently.
    "-Wl,--exclude-libs,libstdc++.a",
)
LIBRARIES = ("-nodefaultlibs", "-lm", "-lc", "-lgcc")  # not the sanitizers' libraries: the runtime replaces them
HOST_LIBRARIES = ("-nodefaultlibs", "-lstdc++", "-lm", "-lc", "-lgcc_s", "-lgcc")
RUNTIME = (*_DEVICE_ALONE, "-O3", "-fno-asynchronous-unwind-tables", "-Wall", "-Wextra")
_PASSED = re.compile(r"-[DUI]|--?std=")


@dataclass(frozen=True)
class Flags:
    """The part of a claim's compiler flags that has a meaning for the host's compiler."""

    passed: tuple[str, ...]
    flush_denormals: bool


def split_flags(job_flags: tuple[str, ...]) -> Flags:
    """Keep a claim's preprocessor and language flags; the others concern only nvcc."""
    settings = settings_of(job_flags)
    passed = tuple(flag.replace("--std", "-std", 1) for flag in job_flags if _PASSED.match(flag))
    fast = ("-DCUDA_ON_CPU_FAST_MATH",) if "use_fast_math" in settings else ()
    return Flags((*passed, *fast), settings.get("ftz") == "true")


def options(clang: bool, flavour: Flavour, chosen: Flags, with_host: bool = False) -> list[str]:
    """All flags that decide how a kernel file is compiled, as this compiler spells them."""
    words: list[str] = []
    if flavour == "check":
        words = [word for one in _HOOKS for word in (("-mllvm", f"-{one}") if clang else (f"--param={one}",))]
        words += () if clang else _EVERY_ACCESS
    own = [*COMMON, *_DEVICE_ALONE] if not with_host else [*COMMON, *_WITH_HOST]
    return [*LANGUAGE, *own, *_FLAVOURS[flavour], *words, *chosen.passed]

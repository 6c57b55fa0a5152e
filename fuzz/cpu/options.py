"""The words that the host's compiler is given: what each flavour needs, and what a claim's nvcc flags mean here.

Knows g++, clang and nvcc by their flags alone; it starts none of them.
"""

import re
from dataclasses import dataclass
from typing import Literal

from kfuzz.sources.flags import settings_of

Flavour = Literal["fast", "check", "count"]

LANGUAGE = ("-std=c++17",)
COMMON = (
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",  # sqrtf is an instruction, as it is on a GPU
    "-ffp-contract=off",  # no fused multiply-add behind the source's back: fma where it says fma
    "-fno-stack-protector",
    "-fstack-clash-protection",  # a frame larger than the guard below a stack must still hit the guard
    "-fno-strict-aliasing",  # nvcc has none either, and kernels cast float * to float4 *
    "-fwrapv",  # what integers do on overflow on every GPU
    "-ftrivial-auto-var-init=pattern",  # a local without a value holds -1.7e38, not what some other run has left there
    "-U_FORTIFY_SOURCE",
    "-g1",  # lines, for findings
    "-Wuninitialized",  # becomes a finding; what else there is a warning of, nobody is told
)
_DEVICE_ALONE = ("-fno-exceptions", "-fno-rtti")
_WITH_HOST = (
    "-fno-builtin-printf",  # g++ would make puts of it, which host/library.cpp does not see
    "-fno-omit-frame-pointer",  # by which calls of the host it comes to a launch (host/launches.cpp)
)
_FLAVOURS: dict[Flavour, tuple[str, ...]] = {
    "fast": ("-O2", "-fsanitize=alignment"),
    "check": (
        "-O1",  # with _EVERY_ACCESS
        "-DCUDA_ON_CPU_CHECK",
        "-fsanitize=thread",
        # Copies are checked as well: they are made by functions of our own (module.cpp), not by what g++ puts there.
        *("-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"),
        "-fno-plt",  # the hooks are called at every access
        "-fsanitize=bounds,alignment,integer-divide-by-zero",
    ),
    "count": ("-O1", "-DCUDA_ON_CPU_COUNT"),
}
# What -O1 does to accesses before they get their hooks: a load whose value is not always used sinks under the branch
# that uses it, and an access out of bounds that the source makes is gone; one that does not change leaves its loop, and
# nobody is seen to poll. -Og leaves them as well, but is twice as slow: it leaves all else in the loops, too. Blocks
# that are not reordered lie as in the source: by that, lanes that have parted and go in step meet again (warp.cpp).
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
    # GNU ld would make a direct call of an indirect one to __tls_get_addr (module.cpp), whose prefixes then stand in an
    # order in which AMD's processors take it for a call with 16 bits of address.
    "-Wl,--no-relax",
    # A compiler may have no libstdc++ but an archive. Its symbols are not to be one with those of another version that
    # Python has loaded, whose facets are numbered otherwise.
    "-Wl,--exclude-libs,libstdc++.a",
)
LIBRARIES = ("-nodefaultlibs", "-lm", "-lc", "-lgcc")  # not the sanitizers' own: the runtime is in their place
HOST_LIBRARIES = ("-nodefaultlibs", "-lstdc++", "-lm", "-lc", "-lgcc_s", "-lgcc")
RUNTIME = (*_DEVICE_ALONE, "-O3", "-fno-asynchronous-unwind-tables", "-Wall", "-Wextra")
_PASSED = re.compile(r"-[DUI]|--?std=")


@dataclass(frozen=True)
class Flags:
    """A claim's compiler flags, as far as they mean something to the host's compiler."""

    passed: tuple[str, ...]
    flush_denormals: bool


def split_flags(job_flags: tuple[str, ...]) -> Flags:
    """Split a claim's flags: preprocessor and language flags are passed on, the rest concerns nvcc alone."""
    settings = settings_of(job_flags)
    passed = tuple(flag.replace("--std", "-std", 1) for flag in job_flags if _PASSED.match(flag))
    fast = ("-DCUDA_ON_CPU_FAST_MATH",) if "use_fast_math" in settings else ()
    return Flags((*passed, *fast), settings.get("ftz") == "true")


def options(clang: bool, flavour: Flavour, chosen: Flags, with_host: bool = False) -> list[str]:
    """All that decides how a kernel file is compiled, in the words of this compiler."""
    words: list[str] = []
    if flavour == "check":
        words = [word for one in _HOOKS for word in (("-mllvm", f"-{one}") if clang else (f"--param={one}",))]
        words += () if clang else _EVERY_ACCESS
    own = [*COMMON, *_DEVICE_ALONE] if not with_host else [*COMMON, *_WITH_HOST]
    return [*LANGUAGE, *own, *_FLAVOURS[flavour], *words, *chosen.passed]

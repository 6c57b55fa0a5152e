"""Which kernels a change touches: those whose text, or a file that it includes, differs from a commit.

Knows git and `#include "..."`; never what stands in a claim.
"""

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from kfuzz.claims.kernel import Kernel
from kfuzz.find.errors import TargetError
from kfuzz.sources import exhibits

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


def kernels_changed_since(kernels: Sequence[Kernel], commit: str) -> tuple[Kernel, ...]:
    """The kernels of which something differs between the commit and the working tree, new files among them."""
    touched = files_that_differ(commit)
    return tuple(kernel for kernel in kernels if touched & included_files(kernel.path))


def files_that_differ(commit: str) -> frozenset[Path]:
    """The files that differ from the commit, and those that git does not know yet."""
    top = Path(ask_git("rev-parse", "--show-toplevel").rstrip("\n"))
    # What the branch changed, not what others changed on the base since.
    base = ask_git("merge-base", "HEAD", f"{commit}^{{commit}}").strip()
    names = ask_git("diff", "--name-only", "-z", "--no-renames", base, cwd=top).split("\0")
    names += ask_git("ls-files", "--others", "--exclude-standard", "-z", cwd=top).split("\0")
    return frozenset((top / name).resolve() for name in names if name)


def ask_git(*words: str, cwd: Path | None = None) -> str:
    """What git says; one line of what is wrong where it does not."""
    try:
        done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise TargetError("--since asks git what has changed, and there is no git here") from None
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["git failed"])[-1]
        raise TargetError(f"--since: git {words[0]}: {said}; a shallow clone needs the base's history (fetch-depth: 0)")
    return done.stdout


def included_files(path: Path) -> frozenset[Path]:
    """The file and all that it includes by name, as far as they lie beside one another; of an exhibit, its base too."""
    seen: set[Path] = set()
    left = [path.resolve()]
    if description := exhibits.description_of(path):
        left = [description.resolve(), exhibits.read(description).base.resolve()]
    while left:
        one = left.pop()
        if one in seen or not one.is_file():
            continue
        seen.add(one)
        left += neighbours(one)
    return frozenset(seen)


def neighbours(path: Path) -> Iterable[Path]:
    text = path.read_text(encoding="utf-8", errors="replace")
    return [(path.parent / name).resolve() for name in INCLUDE.findall(text)]

"""Submissions to BackendBench: folders that are named by an operation of torch, with files of implementations.

`relu__default/relu__default_implementation_v1.py` has the function `relu__default_kernel_impl`. Knows names of files
and folders; it knows no claims and no torch.
"""

from collections.abc import Sequence
from pathlib import Path

from kfuzz.claims.language.front_matter import file_has_claim

PATTERN, MARK = "*_implementation*.py", "_implementation"


def are_implementations(targets: Sequence[str]) -> bool:
    """Whether each target is such a file without a claim, such a folder, or a folder of these."""
    return bool(targets) and all(is_implementation(Path(one)) or has_implementations(Path(one)) for one in targets)


def has_implementations(folder: Path) -> bool:
    """Whether a folder, or one in it, has such files."""
    return folder.is_dir() and any(map(is_implementation, (*folder.glob(PATTERN), *folder.glob(f"*/{PATTERN}"))))


def is_implementation(path: Path) -> bool:
    """Whether a file without a claim is named by its folder, with or without the overload."""
    if MARK not in path.name or not path.is_file():  # nor does a link that leads to itself have a folder
        return False
    folder = path.resolve().parent.name
    return path.name.partition(MARK)[0] in {folder, folder.rpartition("__")[0]} and not file_has_claim(path)

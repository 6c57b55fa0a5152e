"""Judge the gradient kernels of llm.c by the claims in public_backward/, one by one.

    python -m benchmarks.detection.public_backward_kernels LLM_C [--device cpu|gpu] [--cases N] [--only NAME] [--jobs N]
        [--seeds 1 2 3]

LLM_C is a checkout of github.com/karpathy/llm.c. The first line of each claim names a file of dev/cuda/ and the
functions that are taken from it. They are put into a kernel file with the claim, in a temporary folder or in that of
`--keep`, and `kfuzz fuzz` runs it once with each seed, each campaign in one process. Exit code 1 if a kernel is
broken or does not run; docs/found.md has the one that is.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CLAIMS = Path(__file__).parent / "public_backward"
PRELUDE = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)
typedef float floatX;
#define atomicAddX atomicAdd
"""
"""What the functions need of llm.c's own headers, with float as its type of numbers."""
SAID = re.compile(r"^(BROKEN|WARNING|broken|nothing (new )?is broken|nothing was tested|error)\b.*", re.MULTILINE)


def function_of(text: str, name: str) -> str:
    """The text of a `__global__` function, with its template's line."""
    found = re.search(rf"^(template\s*<[^>]*>\s*)?__global__[^;{{]*\b{name}\s*\(", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{name}: not found")
    end = text.index("\n}\n", found.start())
    return text[found.start() : end + 3]


def kernel_file(claim: Path, checkout: Path) -> str:
    """A kernel file: the claim, and the functions that its first line names."""
    head, _, rest = claim.read_text(encoding="utf-8").partition("\n")
    file, _, names = head.lstrip("# ").partition(": ")
    text = (checkout / "dev" / "cuda" / file).read_text(encoding="utf-8")
    body = "\n".join(function_of(text, name.strip()) for name in names.split(","))
    lines = "".join(f"// {line}\n" if line else "//\n" for line in rest.rstrip("\n").split("\n"))
    return f"// {claim.stem} of llm.c.\n//\n// /// kernel\n{lines}// ///\n\n{PRELUDE}\n{body}"


def run_campaign(file: Path, seed: int, options: Sequence[str]) -> bool:
    """Fuzz a kernel file with one seed, print what it says in one line, and return whether it is kept."""
    corpus = file.parent / "corpus" / f"{file.stem}_{seed}"
    command = [
        sys.executable,
        "-m",
        "kfuzz",
        "fuzz",
        str(file),
        "--seed",
        str(seed),
        "--jobs",
        "1",
        "--corpus",
        str(corpus),
    ]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    said = "; ".join(one[0] for one in SAID.finditer(done.stdout)) or done.stderr.strip()[-200:]
    print(f"{file.stem}, seed {seed}: {said}", flush=True)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, metavar="LLM_C")
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--only", default="", help="claims whose names begin so")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="campaigns at once")
    parser.add_argument("--seeds", type=int, nargs="+", default=(1, 2, 3))
    parser.add_argument("--keep", type=Path, help="where the kernel files stay")
    asked = parser.parse_args()
    options = ("--device", asked.device, "--max-cases", str(asked.cases))
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for op in CLAIMS.glob("*.py"):
            (folder / op.name).write_bytes(op.read_bytes())
        files = [folder / f"{claim.stem}.cu" for claim in sorted(CLAIMS.glob(f"{asked.only}*.toml"))]
        for file in files:
            file.write_text(kernel_file(CLAIMS / f"{file.stem}.toml", asked.checkout), encoding="utf-8")
        with ThreadPoolExecutor(asked.jobs) as pool:
            kept = list(pool.map(lambda one: run_campaign(*one, options), ((f, s) for s in asked.seeds for f in files)))
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())

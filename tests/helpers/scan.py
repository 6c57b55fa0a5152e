"""A kernel with one axis whose device is a test's own: what it computes is what that device answers."""

from pathlib import Path

from kfuzz.claims.kernel import Kernel, load

SCAN = """// It does nothing: a device of the test answers in its place.
//
// /// kernel
// op     = "softmax"
// axes   = { cols = "1..64" }
// arrays = { x = "f32[cols] -> x", y = "f32[cols] <- y" }
//
// [[launch]]
// entry = "scan"
// grid  = 1
// block = 1
// args  = ["y", "x", "cols"]
// ///
__global__ void scan(float *y, const float *x, int cols) {}
"""


def write_scan(folder: Path) -> Kernel:
    """The kernel, in a file of this folder."""
    path = folder / "scan.cu"
    path.write_text(SCAN)
    return load(path)

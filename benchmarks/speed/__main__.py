"""The page of this folder: `python -m benchmarks.speed` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
The kernels that come with kfuzz, compared with PyTorch, torch.compile and Triton by the protocol of
[bench.md](../../docs/bench.md)."""
PAGE = Page(
    "speed",
    "How fast the kernels are",
    INTRO,
    (Section("kernels", "The kernels beside torch, torch.compile and Triton", "kernels", ()),),
)

if __name__ == "__main__":
    main(PAGE)

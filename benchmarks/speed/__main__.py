"""The page of this folder: `python -m benchmarks.speed` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
The kernels that come with kfuzz, compared with PyTorch, torch.compile, Triton, QuACK and Liger by the protocol of
[bench.md](../../docs/bench.md)."""
PAGE = Page(
    "speed",
    "How fast the kernels are",
    INTRO,
    (
        Section("kernels", "The kernels beside their rivals", "kernels", ()),
        Section("softmax_h100", "Softmax on an H100", "kernels", ("--only", "softmax/")),
        Section("softmax_h200", "Softmax on an H200", "kernels", ("--only", "softmax/")),
    ),
)

if __name__ == "__main__":
    main(PAGE)

"""The page of this folder: `python -m benchmarks.detection` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
How many planted bugs kfuzz finds, how soon, on which device, and which correct code it accuses. A mutant is a
correct kernel with one planted bug."""
NARROW = (
    "group_dequantize/int8_token", "group_quantize/e4m3_group_warp", "narrow_kv_attention/int8_flash_tiles",
    "rms_norm_quantize/int8_group_warp_vec4", "scaled_gemm/e4m3_blocks",
)  # fmt: skip
"""One kernel of each main family of narrow types."""
PAGE = Page(
    "detection",
    "What kfuzz finds",
    INTRO,
    (
        Section(
            "score",
            "How many planted bugs kfuzz finds: all kernels, one bug of each sort",
            "results",
            ("--out", "score", "--seed", "7", "--per-operator", "1"),
        ),
        Section(
            "narrow_score",
            "How many planted bugs kfuzz finds in kernels of narrow types",
            "results",
            ("--out", "score", "--seed", "7", "--per-operator", "1", "--jobs", "1", *NARROW),
        ),
        Section(
            "results",
            "Every bug of 29 kernels, and the rules in use elsewhere",
            "results",
            ("--out", "score", "--seed", "6", "--jobs", "16"),
        ),
        Section(
            "solutions",
            "Solutions that language models wrote, against their problems",
            "solutions",
            ("list.json", "--keep", "kept", "--only-kept"),
        ),
        Section("exhibits", "Which device sees which broken kernel", "exhibits", ("cpu", "rivals")),
        Section(
            "found_and_small",
            "How soon a broken kernel is found, and how small its case becomes",
            "found_and_small",
            (),
        ),
        Section("checker", "Bugs in planted programs", "checker", ("--threads", "64,256,512,1024")),
        Section("async_pairs", "Bugs in asynchronous work, on a GPU and under compute-sanitizer", "async_pairs", ()),
        Section("quantizers", "Right and wrong quantizers, and the tolerances in use elsewhere", "quantizers", ()),
        Section(
            "planted_submissions",
            "Bugs in submissions to KernelBench, and its own test",
            "planted_submissions",
            ("KernelBench/KernelBench",),
        ),
        Section("public", "Public programs, run as they are", "public", ()),
        Section("ptx_coverage", "Inline PTX of public repositories", "ptx_coverage", ("checkouts",)),
        Section("compiles", "Files of public repositories that compile", "compiles", ("checkouts",)),
        Section("both_devices", "Wrong extensions on both devices", "both_devices", ("16",)),
    ),
)

if __name__ == "__main__":
    main(PAGE)

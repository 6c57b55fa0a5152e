"""The page of this folder: `python -m benchmarks.detection` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
How many planted bugs kfuzz finds, how soon, on which device, and which correct code it accuses. A mutant is a
correct kernel with one planted bug; it is killed if kfuzz reports it. The first sections plant bugs and compare kfuzz
with the tests of others; the last ones run public code as it is."""
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
            "results",
            "Planted bugs: every bug of 29 float32 kernels, compared with the rules of others",
            "results",
            ("--out", "score", "--seed", "6", "--jobs", "16"),
        ),
        Section(
            "score",
            "Planted bugs: one of each sort in 78 kernels",
            "results",
            ("--out", "score", "--seed", "7", "--per-operator", "1"),
        ),
        Section(
            "narrow_score",
            "Planted bugs: one of each sort in kernels of narrow types",
            "results",
            ("--out", "score", "--seed", "7", "--per-operator", "1", "--jobs", "1", *NARROW),
        ),
        Section(
            "solutions",
            "Solutions that language models wrote, against their problems",
            "solutions",
            ("list.json", "--keep", "kept", "--only-kept"),
        ),
        Section(
            "rates",
            "A fresh draw of such solutions, and how many verdicts are false",
            "solutions",
            ("list.json", "--first", "1393", "--keep", "kept", "--only-kept"),
        ),
        Section(
            "judge_rivals",
            "The same answers by judges that need no GPU",
            "judge_rivals",
            ("list.json", "--keep", "rivals", "--only-kept"),
        ),
        Section(
            "people",
            "Kernels that people wrote for LeetGPU",
            "solutions",
            ("people.json", "--keep", "people", "--only-kept"),
        ),
        Section(
            "planted_submissions",
            "Bugs in submissions to KernelBench, and its own test",
            "planted_submissions",
            ("KernelBench/KernelBench",),
        ),
        Section("lies", "Lies about numbers of every size", "lies", ()),
        Section("checker", "Races and memory bugs in planted programs", "checker", ("--threads", "64,256,512,1024")),
        Section("async_pairs", "Bugs in asynchronous work, on a GPU and under compute-sanitizer", "async_pairs", ()),
        Section("planted_modules", "One thing changed in the PTX of right kernels", "planted_modules", ()),
        Section("quantizers", "Right and wrong quantizers, and the tolerances in use elsewhere", "quantizers", ()),
        Section("right_campaigns", "Right kernels in long campaigns", "right_campaigns", ("--own",)),
        Section("exhibits", "Which device sees which broken kernel", "exhibits", ("cpu", "rivals")),
        Section("both_devices", "Wrong extensions on both devices", "both_devices", ("16",)),
        Section(
            "found_and_small",
            "How soon a broken kernel is found, and how small its case becomes",
            "found_and_small",
            (),
        ),
        Section("public", "Public programs, run as they are", "public", ()),
        Section("drawn", "Public programs, drawn by lot", "drawn", ("A",)),
        Section("any_reference", "Reference functions, drawn by lot", "any_reference", ("D", "E", "D-rest")),
        Section("comparisons", "Right ways and planted bugs in these functions", "comparisons", ("J", "D")),
        Section("any_kernel", "Kernels in Python's languages, drawn by lot", "any_kernel", ("A",)),
        Section("bit_for_bit", "The same PTX on a GPU and on the cpu device", "bit_for_bit", ("E", "F")),
        Section(
            "compilers",
            "One kernel under several versions of Triton",
            "compilers",
            ("E", "3.6.0=", "3.4.0=sites/3.4.0", "3.9.0=sites/3.9.0"),
        ),
        Section("ptx_coverage", "Inline PTX of public repositories", "ptx_coverage", ("checkouts",)),
    ),
)

if __name__ == "__main__":
    main(PAGE)

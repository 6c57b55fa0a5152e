"""The page of this folder: `python -m benchmarks.claims` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
kfuzz removes the claim of each kernel and proposes a new one; the first table compares it with the author's. The others
say which problems of public benchmarks kfuzz judges."""
PAGE = Page(
    "claims",
    "What kfuzz claim proposes, and which submissions it judges",
    INTRO,
    (
        Section("proposals", "Proposed claims beside those that the authors wrote", "proposals", ("--jobs", "16")),
        Section(
            "submissions",
            "Problems of benchmarks, by their own references",
            "submissions",
            ("flashinfer-bench", "SOL-ExecBench", "robust-kbench", "reference-kernels"),
        ),
    ),
)

if __name__ == "__main__":
    main(PAGE)

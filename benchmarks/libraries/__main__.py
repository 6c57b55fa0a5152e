"""The page of this folder: `python -m benchmarks.libraries` writes it, `... measure NAME` judges functions first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
What kfuzz says of the public functions of Python libraries, as people install them: each function in each of its types
is tried with hostile inputs, and each accusation is computed a second time. The list is
[data](../../tests/data/library_functions/floats): a library is a file, a function is a line. The commands go on where
they were interrupted, and run on one machine or, with `--cluster`, on [a cluster](../../docs/cluster.md)."""
PAGE = Page(
    "libraries",
    "Functions of libraries",
    INTRO,
    (
        Section("functions", "Functions of floats, on a CPU", "judge", ("--out", "judged")),
        Section(
            "functions_on_gpu", "Functions of floats, on a GPU", "judge", ("--out", "judged_gpu", "--device", "gpu")
        ),
    ),
)

if __name__ == "__main__":
    main(PAGE)

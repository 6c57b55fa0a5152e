"""The page of this folder: `python -m benchmarks.tightness` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
How far the bounds lie from the errors that correct kernels make, and how far two correct devices differ."""
PAGE = Page(
    "tightness",
    "How tight the bounds are",
    INTRO,
    (
        Section("formulas", "How tight the bounds of formulas are", "formulas", ("--jobs", "16")),
        Section("gradients", "Gradients beside torch's", "gradients", ("--jobs", "16")),
        Section("right_elements", "Elements of right answers that are accused", "right_elements", ("--minutes", "60")),
        Section("two_judges", "Rows judged by float64 and by balls", "two_judges", ("--seconds", "480")),
        Section("mutants", "Which wrong steps the bounds see", "mutants"),
        Section("unnamed_algorithms", "Right algorithms that no form names", "unnamed_algorithms"),
        Section("evidence", "How often the test of draws is wrong by chance", "evidence", ("10000000",)),
        Section(
            "kernelbench",
            "KernelBench's problems, by their own references",
            "kernelbench",
            ("KernelBench/KernelBench",),
        ),
        Section("devices_apart", "How far apart a GPU and a CPU lie", "devices_apart", ("gpu", "cpu", "60")),
    ),
)

if __name__ == "__main__":
    main(PAGE)

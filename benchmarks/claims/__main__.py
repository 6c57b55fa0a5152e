"""The page on this folder: `python -m benchmarks.claims` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
kfuzz takes the claim out of each kernel and proposes one; the tables compare it with what the author wrote."""
PAGE = Page(
    "claims",
    "What kfuzz claim proposes",
    INTRO,
    (Section("proposals", "Proposed claims beside those that the authors wrote", "proposals", ("--jobs", "16")),),
)

if __name__ == "__main__":
    main(PAGE)

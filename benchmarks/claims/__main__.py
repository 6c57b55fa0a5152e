"""The page of this folder: `python -m benchmarks.claims` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
kfuzz removes the claim of each kernel and proposes a new one; the table compares it with the author's."""
PAGE = Page(
    "claims",
    "What kfuzz claim proposes",
    INTRO,
    (Section("proposals", "Proposed claims beside those that the authors wrote", "proposals", ("--jobs", "16")),),
)

if __name__ == "__main__":
    main(PAGE)

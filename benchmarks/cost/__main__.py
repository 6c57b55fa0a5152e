"""The page of this folder: `python -m benchmarks.cost` writes it, `... measure NAME` measures a section first."""

from benchmarks.measurement import Page, Section, main

INTRO = """\
How long checked runs take compared with unchecked ones, and where the time of a trial goes."""
PAGE = Page(
    "cost",
    "What it costs",
    INTRO,
    (
        Section("check_speed", "What it costs to check every access", "check_speed", ("--jobs", "14")),
        Section("as_they_are", "Labelled programs and large files", "as_they_are", ()),
        Section("large_launches", "Large launches", "large_launches"),
        Section("narrow_judging", "What judging narrow types costs", "narrow_judging", ()),
        Section("judging_rate", "Rows judged a second", "judging_rate", ("--cores", "16")),
        Section("trial_rate", "Judged trials a second", "trial_rate", ("before",)),
        Section("reference_runs", "Runs of a torch reference with sets", "reference_runs", ()),
        Section("lasting_server", "Ten thousand verdicts of one server", "lasting_server", ("--jobs", "30")),
        Section("verdict_time", "One verdict, cold and warm", "verdict_time", ()),
        Section("callables", "Python callables on a GPU", "callables", ("gpu", "20000", "12", "300", "31")),
    ),
)

if __name__ == "__main__":
    main(PAGE)

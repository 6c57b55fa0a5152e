"""The report as one page for a browser."""

from kfuzz.ui.reports.format import FileFormat
from kfuzz.ui.reports.page import as_page

FORMAT = FileFormat(
    option="html",
    help="Write the report to FILE as a page for a browser.",
    commands=("fuzz", "check", "merge"),
    render=as_page,
)

"""Why nothing is known of a kernel, as reports say it. Knows entries; it decides no exit code of its own."""

from kfuzz.ui.reports.document import KernelEntry


def trouble_of(kernel: KernelEntry) -> str:
    """Its error, or why no answer was judged, if that was no chance of a few trials."""
    return kernel["error"] or ("" if kernel["hardly_tried"] else kernel["unjudged"])

"""The options of a probe that a device with a sanitizer understands."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SanitizerOptions:
    """`sanitize`: a vendor's sanitizer watches the job on a GPU, if it is installed."""

    sanitize: bool = False

"""The options of a probe that only the gpu device understands."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuOptions:
    """`sanitize`: compute-sanitizer watches the job, if it is installed."""

    sanitize: bool = False

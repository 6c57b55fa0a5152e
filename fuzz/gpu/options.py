"""How a GPU looks at one job, beside what a probe says to every device."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuOptions:
    """`sanitize`: compute-sanitizer watches the job, if it is installed."""

    sanitize: bool = False

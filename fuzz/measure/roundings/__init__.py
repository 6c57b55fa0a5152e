"""Finds a claim for a kernel's rounding: counts additions at many sizes and fits a formula to the counts."""

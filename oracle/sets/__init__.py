"""Right answers that are sets and not intervals: special values, ranks, draws."""

"""Numbers and arrays of numbers: element types, grids, layouts, intervals and verdicts."""

"""How large a trial is: the limits of an ordinary one, the kinds of large ones, and the limits of each kind.

All planners take their limits from here. Knows numbers; it knows no kernel.
"""

from typing import Literal

# an ordinary trial
BUDGET = 1 << 16
"""Elements of one trial's inputs and outputs, unless more are asked for."""
CHECK_BUDGET, CHECK_WORK = 1 << 13, 1 << 19
"""Checking each access is slow, and no defect that only it detects needs many elements."""
LEAST_CAP = 256
SEVERAL, MANY_FIXED, TWICE_FIXED = 8, 1 << 20, 1 << 22
"""So many times its smallest case a kernel with fixed sizes may have at first: several heads, pages, or sequences; but
no more elements than the second number, which the oracle takes a second for. It may have two up to the third.
"""
FEW_THREADS, MANY_THREADS = 1 << 12, 1 << 15
"""Threads of one trial: mostly few, so that many trials fit a second; a block with its own edges is within both."""
WORK = 1 << 23
"""Threads times the longest axis: about the loads of a trial in which every thread walks along that axis."""
UNBOUNDED = 1 << 62
"""As much work as the elements and threads allow: little, if threads are known to share the axis."""
MOST_ROWS = 160
NEARBY, FAR_LARGER = 1 << 22, 4
"""How far an allowed size may be from one that `where` excludes: in elements, and as a multiple of the planned ones.
A launch for rows of millions has no short rows nearby.
"""

# a large trial
Large = Literal["rows", "elements", "columns", "turns", "overflow", "rung"]
MANY = 1 << 16
LONGEST = 1 << 18
"""Columns of the longest rows that kfuzz tries."""
MOST_ELEMENTS, MOST_THREADS = 1 << 21, 1 << 20
"""Of a trial in which a grid goes round again: a second or two where threads are simulated."""
MOST_ROW_ELEMENTS = 1 << 20
"""Of rows that are so long: the oracle takes 5 us for each element of the ops that are dearest."""
LARGEST = (MANY + 64) * 64
"""Array elements, or threads, of any trial that need not have so many: what takes a few seconds and some 100 MB.
Blocks of 64 threads for more rows than 16 bits count are within it."""
MOST_STEPS = 1 << 31
"""Threads times the additions that the claim counts: a second or two. A thread that sums a whole row alone needs an
hour for what a block does in a moment. The limit follows from the claim and not from a clock, so that every machine
tries the same sizes."""
OF_ELEMENTS: frozenset[Large] = frozenset({"elements", "rows", "columns"})
"""Kinds that only need many elements: a GPU runs them quickly, and detects as much as the cpu device."""

# a trial of vast arrays
MOST_ADDITIONS = 1 << 20
"""Of one thread: a block does them in a second or two, also on a GPU."""
OF_EACH_ROW = 1 << 15
"""Elements of a row, where the claim allows: enough that 2^31 of them are no more rows than a grid may have in y."""

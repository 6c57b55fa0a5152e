# /// kernel
# op = "row_sum"
# ///
import time

import numpy as np

BEST = {}


def add_by_rows(x, y):
    y += x.sum(1)


def add_by_columns(x, y):
    for column in range(min(x.shape[1], 8)):
        y += x[:, column]
    y += x[:, 8:].sum(1)


def fastest(x, y):
    times = {}
    for run in (add_by_rows, add_by_columns):
        began = time.perf_counter()
        for _ in range(3):
            run(x, y)
        times[run] = time.perf_counter() - began
    return min(times, key=times.get)


def forward(x):
    y = np.zeros(len(x), np.float32)
    if x.shape not in BEST:
        BEST[x.shape] = fastest(x, np.zeros_like(y))
    BEST[x.shape](x, y)
    return y

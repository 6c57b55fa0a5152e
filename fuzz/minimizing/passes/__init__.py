"""The ways to make a failing trial smaller: one file each, found by the folder's listing.

A pass has `WORTH`, its place in the order, and `candidates(subject)`, a generator of smaller subjects that is told
of each whether it still fails, and goes on from it if so.
"""

"""The ways to make a failing trial smaller: one file each, registered by the folder's listing.

A pass has `WORTH`, its place in the order, and `candidates(subject)`, a generator of smaller subjects. It receives
whether the last one still fails, and continues from it if so.
"""

"""The formats of submissions to benchmarks, one file each; kfuzz.claims.references.formats lists this folder.

To add one, add a file whose `FORMAT` is a Format. Nothing else changes: claims, targets and options ask these files.
"""

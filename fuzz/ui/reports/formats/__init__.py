"""The formats of the report, one file each; kfuzz.ui.reports.format lists this folder.

To add one, add a file whose `FORMAT` is a FileFormat or a ServiceFormat. Nothing else changes: commands make their
options from these files.
"""

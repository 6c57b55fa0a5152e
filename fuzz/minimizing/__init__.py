"""A failing trial, made as small as it gets."""

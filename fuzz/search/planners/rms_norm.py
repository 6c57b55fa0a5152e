"""The inputs of rms_norm: those of any norm."""

from kfuzz.search.planners.layer_norm import recipes

__all__ = ["recipes"]

"""The inputs of rms_norm: those of any norm."""

from kfuzz.cases.plans.planners.layer_norm import recipes

__all__ = ["recipes"]

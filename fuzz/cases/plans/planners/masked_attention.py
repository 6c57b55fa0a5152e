"""The inputs of masked_attention: those of any attention."""

from kfuzz.cases.plans.planners.attention import recipes

__all__ = ["recipes"]

"""The inputs of causal_attention: those of any attention."""

from kfuzz.cases.plans.planners.attention import recipes

__all__ = ["recipes"]

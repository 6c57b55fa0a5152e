"""The inputs of causal_attention: those of any attention."""

from kfuzz.search.planners.attention import recipes

__all__ = ["recipes"]

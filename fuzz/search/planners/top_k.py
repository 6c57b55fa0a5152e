"""The inputs of top_k: those of argmax, whose ties lie at the edge of what is taken, too."""

from kfuzz.search.planners.argmax import recipes

__all__ = ["recipes"]

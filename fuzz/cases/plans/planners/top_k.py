"""The inputs of top_k: those of argmax, with ties also at the edge of the selection."""

from kfuzz.cases.plans.planners.argmax import recipes

__all__ = ["recipes"]

"""The inputs of argsort: those of argmax, rows full of ties."""

from kfuzz.cases.plans.planners.argmax import recipes

__all__ = ["recipes"]

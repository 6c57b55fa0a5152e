"""The inputs of sort: those of argmax, rows full of ties."""

from kfuzz.cases.plans.planners.argmax import recipes

__all__ = ["recipes"]

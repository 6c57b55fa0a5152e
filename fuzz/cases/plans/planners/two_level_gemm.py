"""The inputs of a product of narrow matrices with two levels of scales: those of scaled_gemm."""

from kfuzz.cases.plans.planners.scaled_gemm import recipes

__all__ = ["recipes"]

"""The inputs of a product with narrow weights and zero points: those of weight_only_gemm."""

from kfuzz.cases.plans.planners import weight_only_gemm

recipes = weight_only_gemm.recipes

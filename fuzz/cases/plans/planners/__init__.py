"""How to make the inputs of ops that need more than rows of numbers: one file for each op, found in this folder.

A planner is a module of the op's name with `recipes(ground, wanted, choose)`: a recipe for every input role, of the
shapes in `wanted`. An op without a planner gets hostile rows for every role.
"""

"""What an op's inputs are made of, where they are no rows of numbers: one file an op, found by the folder's listing.

A planner is a module of the op's name with `recipes(ground, wanted, choose)`: a recipe for every input role, of the
shapes in `wanted`. An op that has none gets hostile rows for every role.
"""

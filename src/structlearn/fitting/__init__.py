"""From parameters and a problem to weights, for estimators and tasks alike.

Parameters and their defaults, the names of learners, several seeds, development sets, checkpoints
and jack-knifing.
"""

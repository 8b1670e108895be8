"""Linear constraints over parts: integer programs, their solvers, their relaxations."""

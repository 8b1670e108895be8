"""Independent scorers and rules, written from their definitions."""

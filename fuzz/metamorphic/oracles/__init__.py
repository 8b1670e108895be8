"""Scorers and rules written apart from the library, from their definitions."""

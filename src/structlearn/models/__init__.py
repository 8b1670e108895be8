"""A Model is to prediction what a Problem is to learning: one hook, and every query once."""

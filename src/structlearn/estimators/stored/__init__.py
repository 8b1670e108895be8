"""Estimators in files: what a file holds of each, and how it is read again."""

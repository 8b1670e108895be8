"""Estimators in files: the contents for each class, and the readers."""

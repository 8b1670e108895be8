"""Constituent trees: brackets."""

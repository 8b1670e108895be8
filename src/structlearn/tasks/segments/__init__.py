"""Entities and chunks as whole segments."""

"""Benchmarks of structlearn against its rivals, side by side: ``python -m benchmarks``."""

"""structlearn against its rivals, side by side in one run: ``python -m benchmarks``."""

"""Labels and segments along a sequence."""

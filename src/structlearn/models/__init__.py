"""Models: what was learned, and how it is stored."""

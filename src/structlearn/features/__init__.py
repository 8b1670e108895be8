"""Feature rows from arrays, sparse matrices, strings and dictionaries."""

"""Words of languages without blanks: readers of cut text, what learns them, what cuts texts."""

"""From what users have — arrays, sparse matrices, strings, dictionaries — to feature rows."""

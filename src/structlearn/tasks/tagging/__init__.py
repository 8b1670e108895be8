"""A label for each token: taggers, chunkers, entity recognisers."""

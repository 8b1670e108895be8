"""The English pipeline of structlearn: ``structlearn.load("english")``."""

"""structlearn: structured prediction."""

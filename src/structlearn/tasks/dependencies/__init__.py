"""Dependency trees: heads and relations."""

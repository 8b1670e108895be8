"""Metamorphic relations: the same question, asked in two ways, must have the same answer."""

"""Label, learn, ask: a page that asks for the labels worth most, and learns while one works."""

"""Trees: of heads, of spans, of edges, and labels on a given tree."""

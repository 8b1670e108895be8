"""Trees: of heads, of spans, of edges, and labels on the nodes of a given one."""

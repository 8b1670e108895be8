"""Labels on grids and graphs, and assignments."""

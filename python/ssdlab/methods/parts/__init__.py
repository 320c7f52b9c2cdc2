"""Parts that several methods are made of, or one long one: workloads, points, steady state, searches."""

"""`belief`: Bayesian search with a prior read from the brief."""

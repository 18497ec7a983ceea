"""`belief`: Bayesian search with a prior read from the brief.

`search` is the method; prior, evidence, looks, view planning and stopping are its parts; `brief` reads the text.
"""

"""Many episodes, each flown once and stored, whatever dies on the way.

`plan` chooses them, `run` gives them out to a `worker_pool` (or a Ray cluster), `store` keeps one record a line.
"""

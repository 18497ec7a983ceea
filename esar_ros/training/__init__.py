"""The embedded clue detector: its data set, training, quantising, evaluation and model card.

It learns on the ground of ESARBench's events, so it stands above the suites.
"""

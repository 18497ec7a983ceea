"""The embedded default detector: its data set, training, evaluation and model card."""

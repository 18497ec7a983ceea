"""Words as vectors: stored text embeddings, and the encoders that make them."""

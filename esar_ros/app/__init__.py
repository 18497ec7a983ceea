"""Commands a person types."""

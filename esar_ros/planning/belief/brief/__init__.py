"""Reading of a brief: by rules (`parser`) or in the form that a model fills in (`form`)."""

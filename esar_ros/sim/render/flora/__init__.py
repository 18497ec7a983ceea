"""Plants: meshes by distance, their skins in both qualities, and the drawing of them."""

"""Images of a world: colour, depth and ids of several cameras in one pass through OpenGL.

`renderer` is its front; the rendering process of the server is in `process`.
"""

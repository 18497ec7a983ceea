"""PX4: its frames, what is streamed to it, what it is asked for, and what it says of itself."""

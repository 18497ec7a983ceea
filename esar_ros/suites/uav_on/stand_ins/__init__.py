"""Stand-in scenes: episodes in the simulator's own settlements, made from a seed, proved and shipped.

`generator` lays out things and starts and writes the sets' files; `proof` holds them to what they promise; `shipped`
reads them.
"""

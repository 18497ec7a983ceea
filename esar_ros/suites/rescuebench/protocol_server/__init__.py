"""The server for the authors' own evaluation: an UnrealCV server in the place of their binary.

Sources: the wire and the commands as the official client `unrealcv` 1.1.6 and 1.3.2 send and read them; which of them
are used, as the public code of RescueBench (Wu et al., 2026) does.
"""

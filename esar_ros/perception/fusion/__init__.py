"""From boxes to objects.

`localisation` finds a place from depth or crossing rays, `track` follows an object over views, `evidence` weighs looks.
"""

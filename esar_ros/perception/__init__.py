"""From pictures to objects in the map.

`detector` is its front: `detectors` find boxes in pictures, `fusion` makes of them objects with place and covariance.
"""

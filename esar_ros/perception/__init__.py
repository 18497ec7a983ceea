"""From images to objects in the map.

`detector` is its front: `detectors` find boxes in images, `fusion` makes of them objects with place and covariance.
"""

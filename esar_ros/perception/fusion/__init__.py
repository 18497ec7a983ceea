"""From boxes to objects: place from depth or crossing rays, tracks over views, evidence over looks."""

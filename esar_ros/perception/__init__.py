"""From pictures to objects in the map: detector backends, localisation in 3D and fusion over views."""

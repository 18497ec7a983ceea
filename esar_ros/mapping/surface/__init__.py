"""The coloured surface of what was seen: fused by Open3D (extra `open3d`), drawn, and written as PLY and glTF."""

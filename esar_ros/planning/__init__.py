"""Search methods, one a file, behind one registry; and the pilot that flies what they ask for."""

"""Pages for a browser on this machine: pictures, a map and keys, served without a build step."""

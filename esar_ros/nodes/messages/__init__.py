"""Messages to the cores' own words and back; markers and images for people."""

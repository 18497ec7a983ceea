"""What the vehicle's instruments would read, and what weather does to them."""

"""A manifest prepared for the rules: what is read once, and asked for by all of them."""

"""A manifest prepared for the rules: indexes that are built once and shared."""

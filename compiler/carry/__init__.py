"""Code that a step takes along: what its function uses of its module and of the project."""

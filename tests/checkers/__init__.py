"""What type checkers say of what users write: part of `make types`."""

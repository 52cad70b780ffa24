"""Runs as a cluster has them, written by hand, and beside them what is shown of each."""

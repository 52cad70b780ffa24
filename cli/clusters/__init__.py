"""Clusters themselves: how one is reached, and what it is like."""

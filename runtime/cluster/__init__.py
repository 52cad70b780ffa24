"""Clusters: what the runtime asks of one, and the ways there."""

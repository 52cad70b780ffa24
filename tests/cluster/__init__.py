"""Clusters for tests that need no real one: a small API server in the process, and a proxy that breaks requests."""

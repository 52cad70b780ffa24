"""Pipelines and manifests as pictures of their tasks."""

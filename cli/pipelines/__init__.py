"""Pipelines and manifests in files: compiled, checked, drawn, gathered."""

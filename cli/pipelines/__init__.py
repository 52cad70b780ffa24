"""Pipelines and manifests in files: begun, compiled, checked, drawn, gathered."""

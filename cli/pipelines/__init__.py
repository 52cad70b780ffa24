"""Commands about pipelines and manifests in files: create, compile, check, draw, import."""

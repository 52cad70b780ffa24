"""From manifests that somebody wrote to pipelines in Python that do the same."""

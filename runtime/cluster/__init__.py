"""Access to clusters: one interface, implemented for the Kubernetes API and for the Argo server."""

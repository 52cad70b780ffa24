"""A whole Argo on this machine: API server, controller, executor and a store of artifacts; only the kubelet is ours."""

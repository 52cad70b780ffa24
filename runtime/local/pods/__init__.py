"""What the kubelet and Argo's executor do: processes, mounts, files, artifacts."""

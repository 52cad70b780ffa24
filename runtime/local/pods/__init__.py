"""Pods as the kubelet and Argo's executor run them: processes, mounts, files, artifacts."""

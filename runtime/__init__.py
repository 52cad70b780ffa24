"""Runs: submit them to a cluster, follow them, fetch their results; and execute manifests on this machine."""

"""Commands about runs, on this machine or a cluster: start, follow, read, end."""

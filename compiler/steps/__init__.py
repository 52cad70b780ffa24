"""What each kind of step runs: scripts, commands, requests, objects of the cluster."""

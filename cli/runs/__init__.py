"""Runs, on this machine or a cluster: started, followed, read, ended."""

"""Reads the status of a run from its Workflow object."""

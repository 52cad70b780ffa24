"""Runs: submit, follow, bring back; and the local execution of a manifest."""

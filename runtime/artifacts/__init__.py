"""Fetches what a run produced into a folder: from object stores, volumes, and this machine."""

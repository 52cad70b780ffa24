"""Parsers and text utilities: quantities, durations, names, selectors, and the small languages in manifests."""

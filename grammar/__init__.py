"""Text only: quantities, durations, names, selectors, and the small languages inside Argo manifests."""

"""Source positions: cheap to record, and resolved only when a message shows them."""

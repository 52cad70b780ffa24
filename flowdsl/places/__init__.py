"""Where something was written: recorded cheaply, and found in the text for a message only."""

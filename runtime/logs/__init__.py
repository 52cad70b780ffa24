"""What the containers of a run printed: read as bytes, without loss or repetition, whatever breaks on the way."""

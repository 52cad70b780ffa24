"""What a run made, brought into a folder: from object stores, volumes, and this machine."""

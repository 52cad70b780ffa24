"""YAML as text: written, and read with the places of its values."""

"""Values that are passed between steps: their types, expressions over run-time values, and stand-ins."""

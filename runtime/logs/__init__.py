"""The logs of a run's containers, as bytes, without loss or repetition when connections break."""

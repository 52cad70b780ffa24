"""Usage of a cluster: counts over plain objects, without requests of its own."""

"""How much of a cluster is in use: counting over plain objects, which asks a cluster for nothing."""

"""Commands about clusters, and how they connect to one."""

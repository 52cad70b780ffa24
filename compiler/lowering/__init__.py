"""From a trace to the program: how values travel, templates and tasks, Argo's limits."""

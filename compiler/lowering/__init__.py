"""From a trace to the program: how values travel, the templates and tasks, Argo's limits."""

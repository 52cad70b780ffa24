"""What a Workflow object says about its run."""

"""What Argo's controller decides, as a pure machine: events in, actions out; no clock, no process, no file."""

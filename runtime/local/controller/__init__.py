"""Argo's controller as a pure state machine: events in, actions out; no clock, no process, no file."""

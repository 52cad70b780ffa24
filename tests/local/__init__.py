"""Tests of what runs a manifest on one machine."""

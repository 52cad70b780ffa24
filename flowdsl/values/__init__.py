"""What travels between steps: types, expressions over values of the run, and the stand-ins for those."""

"""The points of a sweep: what its trials try, drawn at compile time or learned while it runs."""

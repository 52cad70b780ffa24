"""What can be wrong with a pipeline: findings with their codes, messages and ways out."""

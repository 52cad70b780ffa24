"""Output for people and programs: findings, tables, trees, logs."""

"""How things look: findings, tables, trees, logs."""

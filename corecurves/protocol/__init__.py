"""What makes a measurement fair: arms, edits of curricula, and their review."""

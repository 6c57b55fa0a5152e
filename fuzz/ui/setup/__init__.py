"""What `kfuzz init` finds in a project and writes into it. Each file writes one thing; none of them asks the user."""

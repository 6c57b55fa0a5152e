"""What `kfuzz init` finds in a project and writes into it. Each file knows one thing that is written; none asks."""

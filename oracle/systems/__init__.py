"""The number systems over which a formula runs, one per file, from exact numbers to a simulated kernel."""

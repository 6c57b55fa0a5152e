"""What is tried, and when: hostile sizes and values planned from a claim, trials handed out to a crew."""

"""What an error looks like: a stable label and the numbers behind it. Never part of the verdict itself."""

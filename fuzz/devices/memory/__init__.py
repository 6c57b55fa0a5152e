"""The memory of a job: where its arrays lie, what surrounds them, and how runs are compared."""

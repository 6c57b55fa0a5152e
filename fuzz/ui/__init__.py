"""What people type and read: the commands, the reports, the pytest plugin. The top storey."""

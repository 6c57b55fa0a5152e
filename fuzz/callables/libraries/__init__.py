"""A file a library: its arrays over our memory, and what it hands back. Imported in worker processes alone."""

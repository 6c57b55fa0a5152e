"""A campaign: trials handed out to a crew, and what is kept of them."""

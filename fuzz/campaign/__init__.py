"""A campaign: a crew runs its trials, and a ledger keeps what they show."""

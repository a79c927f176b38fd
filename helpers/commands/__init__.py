"""What the command line offers, in groups; each command imports what it needs only when it is called."""

"""What somebody new can do with a clone within ten minutes each, and how that is checked."""

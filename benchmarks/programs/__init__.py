"""Small programs, each run in a process of its own so that its whole cost can be read when it has ended."""

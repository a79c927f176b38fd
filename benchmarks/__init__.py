"""What is fast, measured beside what others do in the same run; `make bench` writes results.md."""

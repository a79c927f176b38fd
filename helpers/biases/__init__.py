"""One module a bias: what is asked, what is measured, and what each number means."""

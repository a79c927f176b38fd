"""Studies of the estimators themselves, kept beside the package: nothing in notebooks needs them."""

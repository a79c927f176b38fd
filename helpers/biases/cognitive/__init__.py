"""Whether models are moved as people are by anchors, halos, losses, beliefs, crowds and names: experiment 5."""

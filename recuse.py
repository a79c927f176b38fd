"""The package as a wheel names it: in a checkout it is the folder `helpers`."""

from helpers import main as main

"""Tests in a browser: pages of the report, and the notebooks in JupyterLab."""

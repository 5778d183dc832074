"""The page: what Holter knows of some runs as one self-contained HTML file, and the payload that its front end reads.

The front end lives in ``web/``; the package's build bundles it into ``reports/assets``. The dashboard reads the same payload.
"""

"""`python -m ssdlab` is the command `ssdlab`."""

import sys

from ssdlab.cli import main

if __name__ == "__main__":
    sys.exit(main())

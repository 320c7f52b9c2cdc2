"""`python -m ssdlab` is the command `ssdlab`."""

import sys

from ssdlab.host.programs import forget_working_folder

if __name__ == "__main__":
    forget_working_folder()

    from ssdlab.cli import main

    sys.exit(main())

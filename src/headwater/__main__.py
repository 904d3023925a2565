"""`python -m headwater`: the same command line as the `headwater` program."""

import sys

from headwater.cli import main

if __name__ == "__main__":
    sys.exit(main())

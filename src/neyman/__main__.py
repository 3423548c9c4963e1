"""`python -m neyman`."""

import sys

from neyman.cli import main

sys.exit(main())

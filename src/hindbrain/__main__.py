"""`python -m hindbrain` is the same as `hindbrain`."""

import sys

from hindbrain.edge.main import main

sys.exit(main())

"""Makes the helpers beside this file (`synthetic`, `oracle`) importable from every test folder."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# Ray's workers run at a low priority, and would starve beside the other tests on a small machine.
os.environ.setdefault("RAY_worker_niceness", "0")

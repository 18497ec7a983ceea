"""Stands in for a scene's simulator: says what its name asks it to say, then waits to be ended."""

import sys
import time

scene, port = sys.argv[1], sys.argv[sys.argv.index("--port") + 1]
if "broken" in scene:
    sys.exit("scene broken: no OpenGL")
print("simulator: opening", flush=True)
if "slow" not in scene:
    print(f"ready on 127.0.0.1:{port}", flush=True)
time.sleep(600.0)

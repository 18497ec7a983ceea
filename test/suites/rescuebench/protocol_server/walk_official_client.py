"""Walked by the official unrealcv client, as RescueBench's code uses it; prints what it saw as JSON.

python walk_official_client.py PORT FOLDER WIDTH HEIGHT       FOLDER: where the client is installed
"""

import contextlib
import io
import json
import sys
import types
import warnings
from typing import Any

sys.path.insert(0, sys.argv[2])
sys.modules["docker"] = types.ModuleType("docker")  # the client imports it for containers, which nobody starts here

import unrealcv  # noqa: E402
from unrealcv.api import UnrealCv_API  # noqa: E402

PLAYER, VICTIM = "BP_Character_C_1", "BP_Enemy_Character_C_1"


def walk(api: Any) -> dict[str, Any]:
    seen = {"version": unrealcv.__version__, "cameras": api.get_camera_num(), "objects": api.get_objects()}
    seen["colour"] = api.build_color_dict([PLAYER])[PLAYER]
    api.set_obj_location("StaticMeshActor_3566", [1300, 2300, 100])
    api.set_obj_rotation(PLAYER, [0, 90, 0])
    api.set_obj_location(PLAYER, [1000, 2000, 190])
    api.set_obj_location(VICTIM, [1000, 2130, 190])
    api.set_obj_color(VICTIM, [200, 100, 50])
    api.set_cam_fov(1, 110)
    seen["start"] = api.get_obj_location(PLAYER) + api.get_obj_rotation(PLAYER)
    seen["eye"] = api.get_cam_pose(1)
    api.client.request([f"vbp {PLAYER} set_move 0 100"] * 1000, -1)
    seen["walked"] = api.get_obj_location(PLAYER)
    api.set_obj_location(PLAYER, [1000, 2000, 190])
    seen["answers"] = api.batch_cmd([f"vbp {PLAYER} set_move 0 0", f"vbp {PLAYER} carry_body"], None)
    seen["picked"] = api.client.request(f"vbp {VICTIM} is_picked")
    for kind, mode in (("lit", "bmp"), ("lit", "png"), ("object_mask", "bmp")):
        image = api.get_image(1, kind, mode)
        seen[f"{kind} {mode}"] = [*image.shape, float(image.std())]
    depth = api.get_depth(1)
    seen["depth"] = [*depth.shape, float(depth.min())]
    seen["error"] = api.client.request("vbp 1000 set_interval BP_Character_C_1")
    return seen


def main() -> None:
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        api = UnrealCv_API(int(sys.argv[1]), "127.0.0.1", (int(sys.argv[3]), int(sys.argv[4])))
        seen = walk(api)
        api.client.disconnect()
    seen["warned"] = [str(warning.message) for warning in warned if issubclass(warning.category, UserWarning)]
    print(json.dumps(seen))


main()

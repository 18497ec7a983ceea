"""Commands as the public code sends them: answers by the letter, walks by the numbers, and nothing that breaks it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from esar_ros.suites.rescuebench.protocol_server.clocks import PausedClock
from esar_ros.suites.rescuebench.protocol_server.commands import _COMMANDS, Commands

PLAYER, VICTIM, STRETCHER = "BP_Character_C_1", "BP_Enemy_Character_C_1", "StaticMeshActor_621"
AMBULANCE = "BP_Drivable_Ambulance01_C_2"
STEP = 0.2  # s


@pytest.fixture(scope="module")
def opened() -> Commands:
    """Open ground."""
    return Commands("FlexibleRoom", 64, 48, PausedClock(STEP))


@pytest.fixture
def door(opened: Commands) -> Commands:
    """Open ground with a task on it, as the public code's reset puts it there."""
    say(opened, "vset /action/game/level FlexibleRoom", f"vbp {PLAYER} drop_body")
    put(opened, AMBULANCE, (900.0, -1600.0, 90.0), 130.0)
    put(opened, PLAYER, (-21000.0, 3000.0, -3109.0), 30.0)
    put(opened, VICTIM, (-20800.0, 3000.0, -3105.0), 0.0)
    put(opened, STRETCHER, (-21000.0, 3600.0, -3200.0), -10.0)
    say(opened, f"vbp {VICTIM} set_app 4", f"vbp {STRETCHER} set_phy 1", f"vbp {PLAYER} set_cam 20 0 0 0 0 0")
    return opened


def ask(door: Commands, command: str) -> str:
    return door.answer(command).decode()


def say(door: Commands, *commands: str) -> None:
    for command in commands:
        assert ask(door, command) == "ok", command


def put(door: Commands, name: str, location: tuple[float, float, float], yaw: float) -> None:
    say(door, f"vset /object/{name}/rotation 0 {yaw} 0")
    say(door, f"vset /object/{name}/location {location[0]} {location[1]} {location[2]}")


def numbers(door: Commands, command: str) -> list[float]:
    return [float(word) for word in ask(door, command).split()]


def walk(door: Commands, angle: float, speed: float, steps: int, body: str = "set_standup") -> None:
    for _ in range(steps):
        say(door, f"vbp {PLAYER} set_move {angle} {speed}", f"vbp {PLAYER} {body}")
        ask(door, f"vget /object/{PLAYER}/location")


def test_golden_answers(door: Commands) -> None:
    golden = {
        "vget /cameras": "TopView FirstPerson",
        "vget /camera/0/rotation": "-90.000 0.000 0.000",
        "vget /camera/1/rotation": "0.000 30.000 0.000",
        "vget /camera/1/location": "-20982.679 3010.000 -3040.000",
        "vget /camera/1/fov": "110.000",
        "vget /objects": "BP_Character_C_1 BP_Enemy_Character_C_1 StaticMeshActor_1 BP_Drivable_Ambulance01_C_1 "
        "BP_Drone01_C_1",
        f"vget /object/{PLAYER}/location": "-21000.000 3000.000 -3110.000",
        f"vget /object/{PLAYER}/rotation": "0.000 30.000 0.000",
        f"vget /object/{VICTIM}/location": "-20800.000 3000.000 -3110.000",
        f"vget /object/{STRETCHER}/location": "-21000.000 3600.000 -3200.000",
        f"vget /object/{STRETCHER}/rotation": "0.000 -10.000 0.000",
        f"vget /object/{PLAYER}/color": "(R=0,G=0,B=0,A=255)",
        f"vbp {VICTIM} is_picked": "0",
        f"vbp {PLAYER} is_carrying": "0",
        f"vbp {PLAYER} get_hit": "0",
        f"vbp {PLAYER} get_speed": '{"Speed": "0.0"}',
        "vbp 1000 set_interval BP_Character_C_1": "error no object '1000': ask vget /objects",
        "vget /object/BP_Door_main1/location": "error no door 1: there are 0",
        "vget /camera/2/location": "error no camera '2': there are 0 to 1",
        "vrun setres 320x240w": "ok",
        "vrun sg.ShadowQuality 2": "ok",
        "DisableAllScreenMessages": "ok",
        "vset /object/BP_Drone01_C_1/destroy": "ok",
        "vset /objects/spawn bp_character_C somebody": "error unknown command "
        "'vset /objects/spawn bp_character_C somebody': ask vget /unrealcv/commands",
        "vset /camera/0/location 1 2 3": "ok",
        f"vset /object/{VICTIM}/location nan 0 0": "error 'nan' is out of range: give -1e+07 to 1e+07",
    }
    assert {command: ask(door, command) for command in golden} == golden


def test_the_list_of_commands_has_itself_and_no_shared_pictures(door: Commands) -> None:
    known = ask(door, "vget /unrealcv/commands").splitlines()
    assert "vget /unrealcv/commands" in known and len(known) == len(set(known)) == len(_COMMANDS)
    assert not any("_shared" in template for template in known)
    assert ask(door, "vget /unrealcv/version").startswith("1.1.0 ")


def test_a_walker_walks_by_centimetres_and_turns_to_the_right(door: Commands) -> None:
    walk(door, 0.0, 250.0, 20)
    x, y, _ = numbers(door, f"vget /object/{PLAYER}/location")
    assert ((x + 21000.0) ** 2 + (y - 3000.0) ** 2) ** 0.5 == pytest.approx(400.0, abs=10.0), "clipped to 1 m/s"
    assert y > 3150.0, "30 degrees to the right"
    walk(door, 30.0, 0.0, 5)
    assert numbers(door, f"vget /object/{PLAYER}/rotation")[1] == pytest.approx(30.0 + 84.0, abs=8.0)


def test_a_paused_world_moves_once_for_each_movement(door: Commands) -> None:
    at = ask(door, f"vget /object/{PLAYER}/location")
    say(door, *[f"vbp {PLAYER} set_move 0 100"] * 3)
    moved = ask(door, f"vget /object/{PLAYER}/location")
    assert moved != at and ask(door, f"vget /object/{PLAYER}/location") == moved
    assert numbers(door, f"vget /object/{PLAYER}/location")[0] + 21000.0 == pytest.approx(
        0.866 * 100.0 * (3 * STEP - 0.075), abs=2.0
    )


def test_a_victim_is_carried_and_handed_over_by_the_public_codes_commands(door: Commands) -> None:
    say(door, f"vbp {PLAYER} carry_body")
    assert ask(door, f"vbp {VICTIM} is_picked") == "0", "2 m are out of reach"
    put(door, PLAYER, (-20900.0, 3000.0, -3109.0), 90.0)
    walk(door, 0.0, 0.0, 2, "carry_body")
    assert ask(door, f"vbp {VICTIM} is_picked") == ask(door, f"vbp {PLAYER} is_carrying") == "1"
    walk(door, 0.0, 100.0, 25)
    assert numbers(door, f"vget /object/{VICTIM}/location") == numbers(door, f"vget /object/{PLAYER}/location")
    walk(door, 0.0, 0.0, 1, "drop_body")
    assert ask(door, f"vbp {VICTIM} is_picked") == "0"
    lying, stretcher = (numbers(door, f"vget /object/{name}/location") for name in (VICTIM, STRETCHER))
    assert sum((a - b) ** 2 for a, b in zip(lying, stretcher, strict=True)) < 200.0**2, "the public code ends it"
    put(door, VICTIM, (-20800.0, 3000.0, -3105.0), 0.0)
    assert numbers(door, f"vget /object/{VICTIM}/location")[:2] == [-20800.0, 3000.0]


def test_who_walks_against_something_is_told_once_a_hit(door: Commands) -> None:
    put(door, PLAYER, (-21000.0, 3000.0, -3109.0), 0.0)
    put(door, AMBULANCE, (-20500.0, 3000.0, -3110.0), 90.0)
    hits = []
    for _ in range(30):
        walk(door, 0.0, 100.0, 1)
        hits.append(ask(door, f"vbp {PLAYER} get_hit"))
    assert hits[:5] == ["0"] * 5 and hits[-1] == "1"
    walk(door, 0.0, -100.0, 3)
    ask(door, f"vbp {PLAYER} get_hit")
    walk(door, 0.0, -100.0, 1)
    assert ask(door, f"vbp {PLAYER} get_hit") == "0"


def test_a_head_turns_the_camera_alone(door: Commands) -> None:
    say(door, f"vbp {PLAYER} set_cam 20 0 0 0 30 15")
    assert ask(door, "vget /camera/1/rotation") == "30.000 45.000 0.000"
    assert ask(door, f"vget /object/{PLAYER}/rotation") == "0.000 30.000 0.000"
    assert ask(door, f"vbp {PLAYER} set_cam 20 0 0 0 90 0").startswith("error")


def test_a_jump_leaves_the_ground_once_and_crouching_lowers_the_eye(door: Commands) -> None:
    say(door, f"vbp {PLAYER} set_jump")
    heights = []
    for _ in range(12):
        say(door, f"vbp {PLAYER} set_move 0 0")
        heights.append(numbers(door, f"vget /object/{PLAYER}/location")[2])
    assert max(heights) > -3110.0 + 50.0 and heights[-1] == -3110.0
    walk(door, 0.0, 0.0, 2, "set_crouch")
    assert numbers(door, "vget /camera/1/location")[2] < -3040.0 - 40.0


def test_own_places_have_their_doors_and_one_opens() -> None:
    door = Commands("Own_suburb_0", 64, 48, PausedClock(STEP))
    names = [name for name in ask(door, "vget /objects").split() if name.startswith("BP_Door_main")]
    assert names[0] == "BP_Door_main1" and len(names) == door.scene.doors > 1
    x, y, z = numbers(door, "vget /object/BP_Door_main1/location")
    heading = numbers(door, "vget /object/BP_Door_main1/rotation")[1]
    doorway = door.scene.stage.site.doors[0]
    assert (x, y, z) == pytest.approx(
        [100.0 * value for value in (doorway.position[0], -doorway.position[1], doorway.position[2])], abs=0.01
    )
    put(door, PLAYER, (x, y, z + 90.0), heading)
    before = door.scene.world.objects["door_0"]
    say(door, f"vbp {PLAYER} set_open_door 1")
    after = door.scene.world.objects["door_0"]
    assert after.passable and not before.passable
    assert ask(door, "vset /object/BP_Door_main1/location 0 0 0").startswith("error a door stays")
    door.close()


def test_a_map_is_changed_by_its_name(opened: Commands) -> None:
    say(opened, "vset /action/game/level Elsewhere")
    assert ask(opened, "vget /unrealcv/status") == "Elsewhere: open ground, no place here has this name"


def test_wrong_numbers_of_words_and_other_names_are_errors(door: Commands) -> None:
    for template in (known.template for known in _COMMANDS if not known.template.startswith("vrun")):
        assert ask(door, f"{template} and more").startswith("error unknown command"), template
    for word in ("", "vget", "vget /camera/1/lit", "vget /camera/1/lit gif", "vset /camera/1/location 1 2 3"):
        assert ask(door, word).startswith("error"), word


WORDS = st.sampled_from(
    [
        "vget",
        "vset",
        "vbp",
        "vrun",
        "/object/",
        "/camera/1/fov",
        PLAYER,
        VICTIM,
        "1e400",
        "-5",
        "0",
        "nan",
        "set_cam",
        "é",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=80))
@example("vset /action/game/level " + "x" * 90)
def test_whatever_is_asked_is_answered_in_one_line(opened: Commands, text: str) -> None:
    reply = opened.answer(text)
    assert b"\n" not in reply or text.split() == ["vget", "/unrealcv/commands"]
    assert b"failed here" not in reply


TEMPLATES = [known.template for known in _COMMANDS if "lit" not in known.template and "game" not in known.template]
VALUES = [PLAYER, VICTIM, "0", "1", "-1e9", "1e6", "inf", "99999999999999999999", "x"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(TEMPLATES), st.lists(st.sampled_from(VALUES), min_size=8, max_size=8))
def test_every_command_takes_every_word(opened: Commands, template: str, words: list[str]) -> None:
    given_words = iter(words)
    parts = [next(given_words) if part else text for part, text in _split(template)]
    assert b"failed here" not in opened.answer("".join(parts))
    assert all(abs(value) < 1e8 for value in numbers(opened, f"vget /object/{PLAYER}/location"))


def _split(template: str) -> list[tuple[bool, str]]:
    """The parts of a template: whether each is a word to fill in, and its text."""
    texts = template.replace("]", "[").split("[")
    return [(bool(n % 2), text) for n, text in zip(itertools.count(), texts, strict=False)]

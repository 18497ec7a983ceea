"""The package as a package: what it declares, what it builds, which floor may import which."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoints, distributions
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import esar_ros
from esar_ros.nodes.graph.mission import MissionOptions, mission_graph

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "esar_ros"
MANIFEST = ElementTree.parse(ROOT / "package.xml").getroot()

# rosdep's key, and the name on the package index, of what both lists name.
ROSDEP = {
    "python3-jinja2": "jinja2",
    "python3-matplotlib": "matplotlib",
    "python3-msgpack": "msgpack",
    "python3-numba": "numba",
    "python3-numpy": "numpy",
    "python3-onnxruntime-pip": "onnxruntime",
    "python3-opencv": "opencv-python-headless",
    "python3-pil": "pillow",
    "python3-psutil": "psutil",
    "python3-pydantic": "pydantic",
    "python3-rich": "rich",
    "python3-rosbags-pip": "rosbags",
    "python3-scipy": "scipy",
    "python3-transforms3d": "transforms3d",
    "python3-yaml": "pyyaml",
    "python3-hypothesis": "hypothesis",
    "python3-pytest": "pytest",
    "python3-pytest-timeout": "pytest-timeout",
}
# Name to import where it differs from the name on the package index.
IMPORTED_AS = {
    "backports": "backports-zstd",
    "foxglove": "foxglove-sdk",
    "cc3d": "connected-components-3d",
    "cv2": "opencv-python-headless",
    "open_clip": "open-clip-torch",
    "PIL": "pillow",
    "yaml": "pyyaml",
}
# ROS packages of the Python code, and of what package.xml does not name because it comes with another.
ROS_MODULES = {
    "rclpy", "ament_index_python", "launch", "launch_ros", "launch_pytest", "tf2_msgs", "action_msgs", "std_msgs",
    "builtin_interfaces", "geometry_msgs", "sensor_msgs", "nav_msgs", "visualization_msgs", "diagnostic_msgs",
    "rosgraph_msgs", "rcl_interfaces", "std_srvs", "lifecycle_msgs", "unique_identifier_msgs", "px4_msgs",
    "vision_msgs",
}  # fmt: skip
# Type hashes of the messages that are written afresh here, as every ROS 2 install since jazzy has them: of tf2_msgs as
# recorded there, of vision_msgs computed from the definitions of its release 4.1.1.
HASHES = {
    "tf2_msgs/msg/TFMessage": "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "vision_msgs/msg/Detection2DArray": "RIHS01_214274120007f4a683866481336b70310268cfa107aebe9d594a6acf75bda968",
    "vision_msgs/msg/Detection3DArray": "RIHS01_793f5eab9595ac1c0da07873cc859db42eae51f0ee76056db8562515d830e018",
}


def _requirements() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ranges", ROOT / "requirements" / "ranges.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SETUP = _requirements().declared()


def project(requirement: str) -> str:
    """Name on the package index, in its normal form."""
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def keys(*tags: str) -> set[str]:
    """Names that package.xml lists under these tags."""
    return {str(element.text) for tag in tags for element in MANIFEST.iter(tag)}


@cache
def imports(path: Path) -> frozenset[str]:
    """Dotted names of the modules a file imports, at its top or inside functions; every file is parsed once."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
            if node.module == "esar_ros":
                found |= {f"esar_ros.{alias.name}" for alias in node.names}
    return frozenset(found)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


# ---- what is declared


def test_every_place_names_one_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    assert MANIFEST.findtext("version") == SETUP["VERSION"] == esar_ros.__version__ == cited


def test_the_weights_licence_stands_beside_the_code_s() -> None:
    cards = [
        json.loads((ROOT / "models" / f"esar-{name}.json").read_text(encoding="utf-8")) for name in ("clues", "thermal")
    ]
    named = {str(tag.text): tag.get("file") for tag in MANIFEST.iter("license")}
    clues, thermal = (card["license"] for card in cards)
    assert named == {"Apache-2.0": "LICENSE", clues: "models/LICENSE", "CC-BY-4.0": None}
    assert set(thermal.split(" AND ")) == {"Apache-2.0", "CC-BY-4.0"}
    files = [ROOT / name for name in named.values() if name]
    titles = [path.read_text(encoding="utf-8").split("Version")[0].strip().lower() for path in files]
    assert titles == ["apache license", "gnu affero general public license"]
    assert f'license="{" AND ".join(named)}",' in (ROOT / "setup.py").read_text(encoding="utf-8")


def test_the_readme_names_every_package_under_a_copyleft_licence() -> None:
    licences = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Licences")[2]
    installed = {project(each.metadata["Name"]): each.metadata for each in distributions()}
    wanted = {project(line) for lines in (SETUP["REQUIRES"], *SETUP["EXTRAS"].values()) for line in lines}
    wanted &= set(installed)
    stated = {name: installed[name]["License-Expression"] or installed[name]["License"] or "" for name in wanted}
    copyleft = {name for name, text in stated.items() if "GPL" in text.partition("\n")[0]}  # some hold whole texts
    assert {"connected-components-3d", "pymavlink"} <= copyleft
    assert copyleft <= set(re.findall("`([^`]+)`", licences))


def test_python_packages_of_package_xml_are_those_of_setup_py() -> None:
    declared = {project(r) for r in SETUP["REQUIRES"]}
    for key in keys("exec_depend", "depend"):
        if key.startswith("python3-"):
            assert ROSDEP[key] in declared, key
    tools = {project(r) for r in SETUP["EXTRAS"]["test"]}
    for key in keys("test_depend"):
        if key.startswith("python3-"):
            assert ROSDEP[key] in tools, key
    in_manifest = {ROSDEP[key] for key in keys("exec_depend", "depend") if key.startswith("python3-")}
    assert declared & set(ROSDEP.values()) <= in_manifest


@pytest.mark.parametrize("path", sorted((ROOT / "config").glob("constraints-*.txt")), ids=lambda path: str(path.stem))
def test_a_distribution_s_constraints_leave_a_version_that_the_package_works_with(path: Path) -> None:
    """And one of pytest into which ROS's launch_testing and launch_pytest can be plugged."""
    constraints = {project(line): line for line in path.read_text().splitlines() if line[:1].isalpha()}
    ranges = {project(line): line for line in [*SETUP["REQUIRES"], *SETUP["EXTRAS"]["test"]]}
    bounds = {}
    for name, line in constraints.items():
        (lowest,), (below,) = (
            re.findall(rf"{sign}(\d[\d.]*)", text) for sign, text in ((">=", ranges[name]), ("<", line))
        )
        bounds[name] = version(lowest), version(below)
    assert {"numpy", "pytest"} <= set(bounds) and all(lowest < below for lowest, below in bounds.values())
    assert bounds["pytest"][1] <= (8, 4)


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def test_every_import_is_declared() -> None:
    declared = {project(r) for r in SETUP["REQUIRES"]}
    optional = {project(r) for extra in SETUP["EXTRAS"].values() for r in extra}
    for path in modules():
        for name in imports(path):
            top = name.split(".")[0]
            if top in sys.stdlib_module_names or top == "esar_ros":
                continue
            if top in ROS_MODULES:
                assert top == "px4_msgs" or top in keys("depend", "exec_depend"), f"{path}: {top} is not in package.xml"
            else:
                known = IMPORTED_AS.get(top, top).lower().replace("_", "-")
                assert known in declared | optional, f"{path}: {top} is not in setup.py"


def test_the_lock_holds_every_requirement_inside_its_range() -> None:
    packaging = importlib.import_module("packaging.requirements")
    text = (ROOT / "requirements" / "lock.txt").read_text()
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==(\S+)", text, re.M):
        pins.setdefault(name, set()).add(version)
    for line in [*SETUP["REQUIRES"], *SETUP["EXTRAS"]["jazzy"]]:
        requirement = packaging.Requirement(line)
        versions = pins[project(line)]
        assert all(requirement.specifier.contains(version) for version in versions), (line, versions)


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_every_locked_file_has_its_hash(path: Path) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", path.read_text())[1:]
    assert len(entries) >= 2
    for entry in entries:
        assert re.search(r"==\S+.* --hash=sha256:[0-9a-f]{64}\b", entry, re.S), entry


def test_the_official_clients_run_on_the_packages_of_the_lock() -> None:
    lock, shared = ((ROOT / "requirements" / name).read_text() for name in ("lock.txt", "lock-client.txt"))
    assert all(entry in lock for entry in re.split(r"\n(?=[a-z0-9])", shared.rstrip()))


def test_no_package_is_locked_twice() -> None:
    names = [
        set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements" / file).read_text(), re.M))
        for file in ("lock.txt", "lock-test.txt")
    ]
    assert not names[0] & names[1]


# ---- what is built


def interfaces() -> list[Path]:
    return sorted([*ROOT.glob("msg/*.msg"), *ROOT.glob("srv/*.srv"), *ROOT.glob("action/*.action")])


FIELD = re.compile(r"^(?P<type>[a-zA-Z][\w/]*(\[\d*\])?)\s+(?P<name>[a-z]\w*)(?P<rest>.*)$")
CONSTANT = re.compile(r"^(?P<type>u?int\d+)\s+(?P<name>[A-Z]\w*)\s*=\s*(?P<value>\d+)(?P<rest>.*)$")


def sections(path: Path) -> Iterator[list[str]]:
    """Lines of a message, of a service's request and response, or of an action's goal, result and feedback."""
    yield from (part.splitlines() for part in re.split(r"^---$", path.read_text(encoding="utf-8"), flags=re.M))


@pytest.mark.parametrize("path", interfaces(), ids=lambda path: path.name)
def test_the_built_types_are_those_of_the_sources(path: Path) -> None:
    kind = path.suffix[1:]
    built = getattr(importlib.import_module(f"esar_ros.{kind}"), path.stem)
    halves = {"msg": (), "srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}[kind]
    parts = [getattr(built, half) for half in halves] or [built]
    for part, lines in zip(parts, sections(path), strict=True):
        names = [match["name"] for line in lines if (match := FIELD.match(line))]
        assert list(part.get_fields_and_field_types()) == names, "build again: ./esar, or pip install -e ."


@pytest.mark.parametrize("path", interfaces(), ids=lambda path: path.name)
def test_every_interface_says_what_it_is_and_has_its_header_first(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# "), "the first line says what it is"
    for lines in sections(path):
        fields = [match for line in lines if (match := FIELD.match(line))]
        stamped = [match["name"] for match in fields if match["type"] == "std_msgs/Header"]
        assert stamped in ([], ["header"])
        assert not stamped or fields[0]["name"] == "header", "Header first"
        if stamped:
            assert re.search(r"#.*(stamp|frame_id)", fields[0]["rest"]), "whose stamp, which frame"


UNIT = re.compile(
    r"(?<![\w'])(m|m/s|m\^2|m\^3|rad|rad/s|rad/s\^2|m/s\^2|s|deg|px|Pa|V|A|K|bytes|unit (vector|quaternion))(?![\w'])"
    r"|-?[01]\.\.1"
)


@pytest.mark.parametrize("path", interfaces(), ids=lambda path: path.name)
def test_quantities_have_a_unit(path: Path) -> None:
    for lines in sections(path):
        for line in lines:
            match = FIELD.match(line)
            if match and match["type"].startswith(("float", "geometry_msgs/")):
                assert UNIT.search(match["rest"]), f"{path.name}: unit or range of {match['name']}?"


@pytest.mark.parametrize("path", interfaces(), ids=lambda path: path.name)
def test_an_enumeration_begins_with_unknown_or_none(path: Path) -> None:
    for lines in sections(path):
        constants = [match for line in lines if (match := CONSTANT.match(line))]
        # A new enumeration begins where the values begin again.
        enumerations: list[list[re.Match[str]]] = []
        for match in constants:
            if not enumerations or int(match["value"]) <= int(enumerations[-1][-1]["value"]):
                enumerations.append([])
            enumerations[-1].append(match)
        for members in enumerations:
            values = [int(member["value"]) for member in members]
            if 0 not in values and all(value & (value - 1) == 0 for value in values):
                continue  # a bit set: no bit is its nothing
            assert values[0] == 0 and re.search(r"(^|_)(UNKNOWN|NONE)$", members[0]["name"]), members[0].string
            prefix = members[0]["name"].removesuffix("UNKNOWN").removesuffix("NONE")
            assert all(member["name"].startswith(prefix) for member in members), f"{prefix}* is mixed"


@pytest.mark.parametrize("name", HASHES)
def test_a_foreign_message_has_the_hash_of_every_other_ros(name: str) -> None:
    package, _, short = name.split("/")
    module = importlib.import_module(package)
    share = Path(str(module.__file__)).parents[4] / "share" / package / "msg"
    described = json.loads((share / f"{short}.json").read_text())
    hashes = {entry["type_name"]: entry["hash_string"] for entry in described["type_hashes"]}
    assert hashes[name] == HASHES[name]


def executables() -> dict[str, str]:
    lines = (ROOT / "scripts" / "executables.txt").read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize("name", executables())
def test_every_executable_has_its_module_with_a_main(name: str) -> None:
    path = ROOT / Path(*executables()[name].split(".")).with_suffix(".py")
    functions = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    assert "main" in functions


def test_every_process_of_the_graph_is_an_executable() -> None:
    assert {spec.executable for spec in mission_graph(MissionOptions())} <= set(executables())


def test_pip_and_colcon_have_the_same_entry_points() -> None:
    text = (ROOT / "scripts" / "entry_points.txt").read_text(encoding="utf-8")
    points = EntryPoints(EntryPoints._from_text(text))  # type: ignore[attr-defined]
    assert {(point.group, point.name) for point in points} == {
        ("console_scripts", "esar"),
        ("esar_ros.planners", "oracle"),
        ("esar_ros.planners", "oracle_prior"),
    }
    assert all(callable(point.load()) for point in points)
    readers = [name for name in ("setup.py", "CMakeLists.txt") if "entry_points.txt" in (ROOT / name).read_text()]
    assert readers == ["setup.py", "CMakeLists.txt"]


def test_colcon_has_the_fast_tests_and_the_linters_that_package_xml_names() -> None:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"foreach\(part IN ITEMS ([a-z_ ]+)\)\s+ament_add_pytest_test\(\$\{part\} test/\$\{part\} ", text)
    assert found is not None
    parts = found[1].split()
    assert len(parts) > 5 and all(any((ROOT / "test" / part).rglob("test_*.py")) for part in parts)
    packages = set(re.findall(r"find_package\((ament_\w+) REQUIRED\)", text.partition("if(BUILD_TESTING)")[2]))
    assert packages == {"ament_cmake_pytest", "ament_lint_auto"} <= keys("test_depend")
    files = [path for part in parts for path in (ROOT / "test" / part).rglob("*.py")]
    beside = {path.stem for folder in ("px4", "ardupilot", "scoring") for path in (ROOT / "test" / folder).glob("*.py")}
    needed = {name.split(".")[0] for path in files for name in imports(path)} - beside - {"esar_ros", "helpers"}
    resolved = {ROSDEP[key] for key in keys("exec_depend", "depend", "test_depend") if key in ROSDEP}
    assert {IMPORTED_AS.get(name, name).lower() for name in needed - sys.stdlib_module_names} <= resolved


def test_the_build_installs_what_ros_looks_for() -> None:
    site = Path(str(importlib.import_module("esar_ros.msg").__file__)).parents[2]
    prefix = site.parents[2] if site.parts[-3] == "lib" or site.name == "site-packages" else Path(sys.prefix)
    assert (prefix / "share/ament_index/resource_index/packages/esar_ros").is_file()
    assert (prefix / "share/esar_ros/package.xml").is_file()
    assert (prefix / "share/esar_ros/config/graph.env").is_file()
    for name in executables():
        script = prefix / "lib/esar_ros" / name
        assert script.stat().st_mode & 0o111, f"{script} is not executable"
        assert f'start("{executables()[name]}")' in script.read_text()


# ---- floors


def test_only_nodes_and_launch_know_ros() -> None:
    generated = ("esar_ros.msg", "esar_ros.action", "esar_ros.srv")
    for path in modules():
        if path.relative_to(PACKAGE).parts[0] == "nodes":
            continue
        for name in imports(path):
            assert name.split(".")[0] not in ROS_MODULES, f"{path} imports {name}"
            assert not name.startswith(generated), f"{path} imports {name}"


def test_only_tests_benchmarks_and_training_know_the_official_airsim_client() -> None:
    for path in modules():
        assert not {"airsim", "msgpackrpc", "cosysairsim"} & {name.split(".")[0] for name in imports(path)}, path
    offered = {project(line) for extra in SETUP["EXTRAS"].values() for line in [*extra, *SETUP["REQUIRES"]]}
    assert not offered & {"airsim", "cosysairsim", "msgpack-rpc-python", "msgpack-python", "tornado"}


def test_the_tree_names_no_registry_host() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    hosts = ("pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "deb.debian" + ".org")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path.suffix in (".txt", ".py", ".toml", ".md", ".yaml", ".xml", ".cmake", ""):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not any(host in text for host in hosts), name

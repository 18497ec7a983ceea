"""A detector's worth that is told before a real flight is as measured, and of the network that was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from esar_ros.mission.errors import UsageError
from esar_ros.mission.resources import resource
from esar_ros.perception.detectors.chosen import about_chosen
from esar_ros.perception.detectors.model_card import digest, load_card
from esar_ros.perception.detectors.real_pictures import PAGE, load_real_pictures, real_flight_warning
from esar_ros.perception.detectors.yolo_file import SHIPPED

ROOT = Path(__file__).resolve().parents[3]


def test_the_figures_are_of_the_shipped_network_and_stand_on_their_page() -> None:
    known = load_real_pictures()
    assert known.sha256 == digest(resource("models") / SHIPPED), "measure it again: benchmarks/real_pictures.py --page"
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    low, high = known.recall_interval
    row = next(line for line in page.splitlines() if line.startswith("| shipped chain"))
    assert row.startswith(
        f"| shipped chain, without depth | A | {known.recall:.3f} [{low:.3f}, {high:.3f}] | {known.ap50:.3f} "
    )
    stage = load_card(resource("models") / SHIPPED.replace(".onnx", ".json")).pictures
    assert stage is not None and known.pictures_sha256 == digest(resource("models") / stage.file) == stage.sha256
    assert f"| pictures | {known.pictures} |" in page and f"| people | {known.people} |" in page


@pytest.mark.parametrize(
    "page", ["README.md", "models/README.md", "models/esar-clues.md", "docs/explanation/detector.md"]
)
def test_pages_for_people_say_the_share_that_was_measured(page: str) -> None:
    share = f"{100 * load_real_pictures().recall:.0f} %"
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"{share} of 211 people" in text or f"{share} of the people" in text


def test_the_shipped_detector_is_not_for_real_flights_and_says_so_first() -> None:
    known = load_real_pictures()
    warning = real_flight_warning(about_chosen("esar_yolo"))
    told = (
        f"not for real flights: esar_yolo found {100 * known.recall:.0f} % of {known.people} people on {known.pictures}"
    )
    assert warning.startswith(told) and PAGE in warning and "\n" not in warning
    assert len(f"!  {told} real photographs") <= 84, "the scorecard's image cuts a note there"


@pytest.mark.parametrize("details", [{"backend": "mine", "digest": "0" * 64}, {"backend": "segmentation_oracle"}, {}])
def test_of_others_it_says_that_nothing_was_measured(details: dict[str, str]) -> None:
    warning = real_flight_warning(details)
    assert "has not been measured" in warning and details.get("backend", "not recorded") in warning


def test_broken_figures_are_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "real.json"
    path.write_text('{"schema": "esar-real-pictures/1", "pictures": 0}', encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_real_pictures(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)

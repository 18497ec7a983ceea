"""`esar replay BAG`: a bag's topics back into the ROS graph, or into another bag."""

from __future__ import annotations

import os
from pathlib import Path

from esar_ros.app.arguments import Parser
from esar_ros.bags.files import open_bag
from esar_ros.bags.playback import Selection, copy_bag
from esar_ros.mission.system.environment import graph_environment
from esar_ros.nodes.tools.bagged_topic import kept_for_late


def main(argv: list[str]) -> int:
    """Run the command."""
    parser = Parser(
        prog="esar replay",
        description="Publish a bag's topics and /clock, so that RViz, Foxglove or the live page show the flight; or, "
        "with --into, write what is chosen into another bag.",
    )
    add = parser.add_argument
    add("bag", help="folder of a rosbag2, its .mcap or .db3 file, or a flight log (.ulg, .bin)")
    add("--rate", type=float, default=1.0, help="how much faster than it was flown (default: 1)")
    add("--start", type=float, default=0.0, metavar="S", help="s to leave out at the beginning")
    add("--duration", type=float, metavar="S", help="s to play (default: to the end)")
    add(
        "--topics",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these; * and ? as in file names, `odometry` is every vehicle's",
    )
    add("--no-images", action="store_true", help="leave all images out")
    add("--loop", action="store_true", help="over and over; time goes on, so that TF stays whole")
    add("--clock", type=float, default=100.0, metavar="HZ", help="of /clock, 0 for none (default: 100)")
    add("--wait", type=float, default=3.0, metavar="S", help="for a first subscriber (default: 3)")
    add("--into", metavar="DIR", help="write a new bag there instead of publishing")
    add("--zstd", action="store_true", help="compress the new bag's chunks (mcap)")
    arguments = parser.parse_args(argv)
    selection = Selection(tuple(arguments.topics), not arguments.no_images, arguments.start, arguments.duration)
    with open_bag(Path(arguments.bag)) as bag:
        if bag.cut:
            print(f"{arguments.bag} is cut; what lies before the cut is there")
        if arguments.into:
            count, left_out = copy_bag(bag, Path(arguments.into), selection, arguments.zstd, kept_for_late)
            for topic in left_out:
                print(f"left out: {topic} (the bag does not say what its messages are)")
            print(f"{count} messages written into {arguments.into}")
            if bag.damaged:
                print(f"warning: {arguments.bag} is damaged: {bag.damaged} chunks are not what their checksums say")
            return 0
        os.environ.update(graph_environment(images=True))
        from esar_ros.nodes.tools.bag_player import PlayOptions, play_bag

        options = PlayOptions(selection, arguments.rate, arguments.loop, arguments.clock, arguments.wait)
        options.check()
        return play_bag(bag, options)

"""`eeectl bench`, for real labs and for virtual ones, whose engine says when it was late."""

from controller.experiments import bench_command
from twin.lateness import Lateness

bench_app = bench_command.app(Lateness.of)

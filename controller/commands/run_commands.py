"""`eeectl run` and `sweep`, for real labs and for virtual ones, whose engine says when it was late."""

from controller.experiments import run_command
from twin.lateness import Lateness

run_app, sweep_app = run_command.apps(Lateness.of)

"""`eeectl probe`, for real labs and for virtual ones, whose engine says when it was late."""

from controller.experiments import probe_command
from twin.lateness import Lateness

probe_app = probe_command.app(Lateness.of)

"""A small study: two networks, one program, links that never sleep and links that do."""

from pathlib import Path

from tests.support import ROOT

TINY = """\
name: tiny
chosen: ["Times are invented."]
common:
  routing: dor
  router: {vcs: 2, buffer_flits: 64, packet_flits: 8, switching: cut_through}
  programs: {cycle_ns: 1.6, flit_byte: 16}
  each_job: {placement: random}
  seeds: [1, 2, 3]
axes:
  network:
    ring: {network: {kind: torus, radix: [8]}}
    square: {network: {kind: torus, radix: [4, 4]}}
  program:
    stencil: {programs: {jobs: [{program: {kind: stencil, procs: [4, 2], steps: 3, face_byte: 2000, grain_ns: 20000}}]}}
  links:
    always-on: {}
    deep: {links: {mode: deep, hold: 1000, sleep: 200, wake: 300, wake_during_sleep: 300}}
without:
  - {network: [square], links: [deep]}
reduced:
  keep: {network: [ring]}
  common: {seeds: [1]}
  values: {program: {stencil: {programs: {jobs: [{program: {kind: stencil, procs: [4, 2], steps: 1}}]}}}}
  leaves_out: ["Seeds: 1 of 3.", "The square."]
"""


def tiny(folder: Path, text: str = TINY) -> Path:
    """Its file."""
    path = folder / "tiny.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def small(paper: str) -> str:
    """A study of small networks under the names of a paper's."""
    return (ROOT / "tests" / "support" / "study_files" / f"{paper}.yaml").read_text(encoding="utf-8")

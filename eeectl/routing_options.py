"""The options of multi-tree routing, shared by `plan` and `apply`."""

from dataclasses import dataclass
from pathlib import Path

from eee_testbed.controller.planning.assignment import Statics
from eee_testbed.controller.planning.wishes import MultiTree, PolicyName
from eee_testbed.eeectl.tree_file import read_trees
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.model import Lab
from eee_testbed.lab.named_links import trunk_named


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingOptions:
    """Which trees, and further conditions.

    Parameters
    ----------
    policy
        `shortest`: a shortest-path tree for each switch; `star`: a tree for each of --roots; `one`: one tree for all;
        `file`: the trees written in --trees.
    roots
        Switches to root trees at, for `star` and `one`.
    trees_per_switch
        For `shortest`: number of trees among which the hosts of a switch are divided. More trees use more parallel
        links, and more VLANs.
    trees
        YAML file of hand-written trees.
    off
        Links to keep out of all trees and shut, by number in cables.csv or by end (sw1:gi1/0/11). A LAG counts as one
        link.
    statics
        Static FDB entries: those `needed` to prevent endless flooding, `all` hosts in each VLAN, or `none`.

    """

    policy: PolicyName = "shortest"
    roots: tuple[str, ...] = ()
    trees_per_switch: int = 1
    trees: Path | None = None
    off: tuple[str, ...] = ()
    statics: Statics = "needed"

    def wish(self, lab: Lab) -> MultiTree:
        """What they ask for; PlanError for an unknown link, InventoryError or PlanError for a wrong file of trees."""
        if (self.policy == "file") != (self.trees is not None):
            raise PlanError("hand-written trees need both: --policy file and --trees FILE.")
        return MultiTree(
            self.policy,
            self.roots,
            self.trees_per_switch,
            read_trees(self.trees, lab) if self.trees is not None else (),
            tuple(sorted(trunk_named(lab, name).number for name in self.off)),
            self.statics,
        )

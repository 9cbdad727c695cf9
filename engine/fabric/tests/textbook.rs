//! One switch against a bridge written as plainly as possible.

use std::collections::{BTreeMap, BTreeSet};

use crate::lab::{self, frame, mac};
use crate::steps::{HOSTS, any_acceptable, any_tag, quick};
use fabric::{Acceptable, Frame, Tag};
use proptest::collection::vec;
use proptest::prelude::*;

/// What a textbook bridge does, written as plainly as possible: one switch, hosts on ports 0 to 4, no ageing.
#[derive(Default)]
struct Textbook {
    vlans: BTreeMap<u16, (BTreeSet<usize>, BTreeSet<usize>)>,
    rules: BTreeMap<usize, (u16, Acceptable, bool)>,
    learned: BTreeMap<(u16, usize), usize>,
}

impl Textbook {
    fn carry(
        &mut self,
        from: usize,
        source: usize,
        to: Option<usize>,
        tag: Option<Tag>,
    ) -> Vec<(usize, Option<Tag>)> {
        let (pvid, acceptable, filtering) = self.rules[&from];
        let vid = match tag {
            Some(tag) if tag.vid != 0 && acceptable != Acceptable::Untagged => tag.vid,
            Some(tag) if tag.vid != 0 => return Vec::new(),
            _ if acceptable == Acceptable::Tagged => return Vec::new(),
            _ => pvid,
        };
        let Some((members, untagged)) = self.vlans.get(&vid) else {
            return Vec::new();
        };
        if filtering && !members.contains(&from) {
            return Vec::new();
        }
        self.learned.insert((vid, source), from);
        let known = to.and_then(|to| self.learned.get(&(vid, to)));
        let out = Tag {
            vid,
            ..tag.unwrap_or_default()
        };
        members
            .iter()
            .filter(|port| **port != from && known.is_none_or(|known| known == *port))
            .map(|port| (*port, (!untagged.contains(port)).then_some(out)))
            .collect()
    }
}

type TextbookFrame = (usize, usize, Option<usize>, Option<Tag>);

proptest! {
    #![proptest_config(quick(300))]

    #[test]
    fn one_switch_forwards_as_the_textbook_bridge(
        vlans in vec((1..4u16, vec(0..HOSTS, 0..5), vec(0..HOSTS, 0..5)), 0..5),
        rules in vec((1..4u16, any_acceptable(), any::<bool>()), HOSTS),
        frames in vec((0..HOSTS, 0..HOSTS, prop::option::of(0..HOSTS), any_tag()), 1..40),
    ) {
        let mut lab = lab::Lab::star(HOSTS);
        let mut textbook = Textbook::default();
        lab.vlan(0, 1, &[], &[]);
        textbook.vlans.insert(1, Default::default());
        for (vid, members, untagged) in vlans {
            let members: BTreeSet<usize> = members.into_iter().collect();
            let mut untagged: BTreeSet<usize> = untagged.into_iter().collect();
            untagged.retain(|port| members.contains(port));
            let list = |set: &BTreeSet<usize>| set.iter().copied().collect::<Vec<_>>();
            lab.vlan(0, vid, &list(&members), &list(&untagged));
            textbook.vlans.insert(vid, (members, untagged));
        }
        for (port, (pvid, acceptable, filtering)) in rules.into_iter().enumerate() {
            lab.pvid(0, port, pvid);
            lab.acceptable(0, port, acceptable);
            lab.filtering(0, port, filtering);
            textbook.rules.insert(port, (pvid, acceptable, filtering));
        }
        for (from, source, to, tag) in frames as Vec<TextbookFrame> {
            let destination = to.map_or(lab::BROADCAST, mac);
            let data = Frame { tag, ..frame(mac(source), destination, 60) };
            let got = lab.sent_to(from, data);
            prop_assert_eq!(got, textbook.carry(from, source, to, tag));
        }
        lab.assert_conserved();
    }
}

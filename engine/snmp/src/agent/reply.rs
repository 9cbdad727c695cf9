//! Writes responses and reports: how large one may be, and for whom it is encrypted and signed.

use super::{Agent, Step};
use crate::ber::{self, Prepender};
use crate::counters::count;
use crate::identity::{Own, write_frame};
use crate::keys::DIGEST_MAX_BYTE;
use crate::pdu::{self, ErrorStatus, Outcome, Version};
use crate::usm::{Level, User};
use crate::value::Value;

#[derive(Debug)]
pub(super) enum ReplyTo {
    Community {
        version: i32,
        community: Vec<u8>,
    },
    User {
        message_id: i32,
        user: Option<usize>,
        level: Level,
        size_max_byte: usize,
    },
}

impl ReplyTo {
    pub(super) fn version(&self) -> Version {
        match self {
            Self::Community { version: 0, .. } => Version::V1,
            _ => Version::V2,
        }
    }
}

impl Agent {
    pub(super) fn report(
        &mut self,
        wanted: bool,
        (name, value): (Vec<u32>, Value),
        request_id: i32,
        reply_to: &ReplyTo,
    ) -> Step {
        if !wanted {
            return Step::Silent;
        }
        let mut binding = Prepender::default();
        value.prepend(&mut binding);
        binding.oid(&name);
        binding.wrap(ber::SEQUENCE, 0);
        self.write(
            pdu::REPORT,
            (ErrorStatus::NoError, 0),
            request_id,
            reply_to,
            Some(binding.written()),
        );
        Step::Answer
    }

    pub(super) fn respond(
        &mut self,
        outcome: Outcome,
        request_id: i32,
        reply_to: &ReplyTo,
    ) -> Step {
        self.write(pdu::RESPONSE, outcome, request_id, reply_to, None);
        let limit_byte = match reply_to {
            ReplyTo::Community { .. } => self.own.size_max_byte,
            ReplyTo::User { size_max_byte, .. } => *size_max_byte,
        };
        if self.out.size_byte() > limit_byte {
            count(&mut self.own.counters.silent_drops);
            return Step::Silent;
        }
        Step::Answer
    }

    /// Maximum size of the variable bindings in a response.
    pub(super) fn room_byte(&self, reply_to: &ReplyTo) -> usize {
        const LENGTH: usize = 4;
        const INTEGER: usize = 6;
        let (limit, frame) = match reply_to {
            ReplyTo::Community { community, .. } => (
                self.own.size_max_byte,
                LENGTH + 3 + LENGTH + community.len(),
            ),
            ReplyTo::User {
                size_max_byte,
                user,
                ..
            } => {
                let name = user.map_or(0, |user| self.users[user].name.len());
                let global = 2 + 2 * INTEGER + 3 + 3;
                let engine = LENGTH + self.own.engine_id.len();
                let security =
                    2 * LENGTH + engine + 2 * INTEGER + LENGTH + name + 2 + DIGEST_MAX_BYTE + 2 + 8;
                let scoped = 2 * LENGTH + engine + 2 + 8;
                (*size_max_byte, LENGTH + 3 + global + security + scoped)
            }
        };
        limit.saturating_sub(frame + pdu::OVERHEAD_BYTE)
    }

    fn write(
        &mut self,
        tag: u8,
        outcome: Outcome,
        request_id: i32,
        reply_to: &ReplyTo,
        bindings: Option<&[u8]>,
    ) {
        let bindings = bindings.unwrap_or(self.body.bytes());
        let out = &mut self.out;
        out.clear();
        match reply_to {
            ReplyTo::Community { version, community } => {
                pdu::prepend(out, tag, request_id, outcome, bindings);
                out.element(ber::OCTETS, community);
                out.integer(*version);
                out.wrap(ber::SEQUENCE, 0);
            }
            ReplyTo::User {
                message_id,
                user,
                level,
                ..
            } => {
                let own = &self.own;
                let user = user.map(|user| &self.users[user]);
                let scoped = |out: &mut Prepender| {
                    let mark = out.size_byte();
                    pdu::prepend(out, tag, request_id, outcome, bindings);
                    out.element(ber::OCTETS, &[]);
                    out.element(ber::OCTETS, &own.engine_id);
                    out.wrap(ber::SEQUENCE, mark);
                };
                let frame = (*message_id, *level);
                write_for_user(out, own, user, frame, &mut self.salt_count, scoped);
            }
        }
    }
}

/// Write a scoped PDU for a user, encrypted and signed as the level wants it.
fn write_for_user(
    out: &mut Prepender,
    own: &Own,
    user: Option<&User>,
    (message_id, level): (i32, Level),
    salt_count: &mut u64,
    scoped: impl Fn(&mut Prepender),
) {
    let key = user
        .filter(|_| level == Level::Private)
        .and_then(|user| user.privacy.as_ref());
    scoped(out);
    let mut salt = None;
    if let Some(key) = key {
        let missing = out.size_byte().wrapping_neg() % key.block_byte();
        if missing > 0 {
            out.clear();
            out.raw(&[0; 8][..missing]);
            scoped(out);
        }
        *salt_count = salt_count.wrapping_add(1);
        let fresh = key.salt(own.boots, *salt_count);
        key.encrypt(own.boots, own.time_s, fresh, out.written_mut());
        out.wrap(ber::OCTETS, 0);
        salt = Some(fresh);
    }
    let signer = user
        .filter(|_| level >= Level::Auth)
        .and_then(|user| user.auth.as_ref());
    let name = user.map_or(&[][..], |user| &user.name);
    write_frame(
        out,
        message_id,
        level,
        own,
        name,
        signer,
        salt.as_ref().map_or(&[][..], |salt| salt),
    );
}

//! Messages of SNMP v1, v2c (RFC 1901) and v3 (RFC 3412): from a datagram to its response.

mod reply;

use std::time::Duration;

use self::reply::ReplyTo;
use crate::ber::{self, BerError, Prepender, Reader};
use crate::config::{AgentConfig, ConfigError, SIZE_MAX_BYTE, SIZE_MIN_BYTE};
use crate::counters::{Counters, UsmFailure, count};
use crate::identity::{Own, USM_MODEL, VERSION_3};
use crate::pdu::{self, Access, Bind, Body, ErrorStatus, Kind, Outcome, Parsed, Request};
use crate::table::Table;
use crate::usm::{self, Level, Parameters, User};

const REPORTABLE: u8 = 0b100;
/// Source of the variables of an agent.
pub trait Variables {
    /// All variables, no older than the owner guarantees; `own` must be included ([`Own::put_into`]).
    fn table(&mut self, own: &Own) -> &Table;
}

/// Result of processing a datagram.
#[derive(Debug)]
pub enum Step {
    /// [`Agent::answer`] holds the datagram to send back.
    Answer,
    /// No response.
    Silent,
    /// A SET request; pass its result to [`Agent::finish_set`].
    Set(PendingSet),
}

/// A SET that waits for its result.
#[derive(Debug)]
pub struct PendingSet {
    /// Variables to set.
    pub binds: Vec<Bind>,
    request_id: i32,
    reply_to: ReplyTo,
}

/// An SNMP agent: state of the protocol, no variables.
#[derive(Debug)]
pub struct Agent {
    own: Own,
    communities: Vec<(Vec<u8>, Access)>,
    users: Vec<User>,
    salt_count: u64,
    request: Request,
    body: Body,
    out: Prepender,
}

impl Agent {
    /// An agent that has just booted.
    pub fn new(config: &AgentConfig) -> Result<Self, ConfigError> {
        if !(5..=32).contains(&config.engine_id.len()) {
            return Err(ConfigError::EngineId(config.engine_id.len()));
        }
        if !(SIZE_MIN_BYTE..=SIZE_MAX_BYTE).contains(&config.size_max_byte) {
            return Err(ConfigError::Size(config.size_max_byte));
        }
        if let Some(user) = config
            .users
            .iter()
            .find(|user| user.privacy.is_some() && user.auth.is_none())
        {
            return Err(ConfigError::PrivacyOnly(user.name.clone()));
        }
        Ok(Self {
            own: Own {
                engine_id: config.engine_id.clone(),
                boots: config.boots,
                time_s: 0,
                size_max_byte: config.size_max_byte,
                counters: Counters::default(),
            },
            communities: config
                .communities
                .iter()
                .map(|(name, access)| (name.as_bytes().to_vec(), *access))
                .collect(),
            users: config
                .users
                .iter()
                .map(|user| User::localize(user, &config.engine_id))
                .collect(),
            salt_count: config.salt_seed,
            request: Request::default(),
            body: Body::default(),
            out: Prepender::with_capacity(config.size_max_byte + 64),
        })
    }

    /// Reboot: snmpEngineBoots increases, counters are zero, times count from here.
    pub fn reboot(&mut self) {
        self.own.boots = self.own.boots.saturating_add(1).min(i32::MAX as u32);
        self.own.time_s = 0;
        self.own.counters = Counters::default();
    }

    /// The response to the last datagram, after [`Step::Answer`] or [`Agent::finish_set`].
    pub fn answer(&self) -> &[u8] {
        self.out.written()
    }

    /// Processes one datagram; `since_boot` is the time since the last boot of the agent.
    pub fn receive(
        &mut self,
        since_boot: Duration,
        datagram: &[u8],
        variables: &mut dyn Variables,
    ) -> Step {
        self.own.time_s = u32::try_from(since_boot.as_secs())
            .unwrap_or(u32::MAX)
            .min(i32::MAX as u32);
        count(&mut self.own.counters.in_pkts);
        if datagram.len() > self.own.size_max_byte {
            return Step::Silent;
        }
        self.dispatch(datagram, variables).unwrap_or_else(|_| {
            count(&mut self.own.counters.in_asn_parse_errs);
            Step::Silent
        })
    }

    fn dispatch(
        &mut self,
        datagram: &[u8],
        variables: &mut dyn Variables,
    ) -> Result<Step, BerError> {
        let mut message = Reader::new(datagram).inside(ber::SEQUENCE)?;
        match message.integer()? {
            version @ (0 | 1) => self.community_message(version, message, variables),
            VERSION_3 => self.user_message(datagram, message, variables),
            _ => {
                count(&mut self.own.counters.in_bad_versions);
                Ok(Step::Silent)
            }
        }
    }

    fn community_message(
        &mut self,
        version: i32,
        mut message: Reader,
        variables: &mut dyn Variables,
    ) -> Result<Step, BerError> {
        let community = message.expect(ber::OCTETS)?;
        let (tag, content) = message.element()?;
        let Some(access) = self
            .communities
            .iter()
            .find(|(name, _)| name == community)
            .map(|(_, access)| *access)
        else {
            count(&mut self.own.counters.in_bad_community_names);
            return Ok(Step::Silent);
        };
        let reply_to = ReplyTo::Community {
            version,
            community: community.to_vec(),
        };
        match self.request.parse(tag, content)? {
            Parsed::Request(Kind::GetBulk) if version == 0 => Ok(Step::Silent),
            Parsed::Request(kind) => Ok(self.serve(kind, access, reply_to, variables)),
            Parsed::Other => {
                count(&mut self.own.counters.unknown_pdu_handlers);
                Ok(Step::Silent)
            }
        }
    }

    fn user_message(
        &mut self,
        datagram: &[u8],
        mut message: Reader,
        variables: &mut dyn Variables,
    ) -> Result<Step, BerError> {
        let mut header = message.inside(ber::SEQUENCE)?;
        let message_id = header.integer()?;
        let manager_size_byte =
            usize::try_from(header.integer()?).map_err(|_| BerError::Integer)?;
        let &[flags] = header.expect(ber::OCTETS)? else {
            return Err(BerError::Length);
        };
        if header.integer()? != USM_MODEL {
            count(&mut self.own.counters.unknown_security_models);
            return Ok(Step::Silent);
        }
        if manager_size_byte < SIZE_MIN_BYTE {
            return Err(BerError::Integer);
        }
        let Some(level) = Level::from_flags(flags) else {
            count(&mut self.own.counters.invalid_msgs);
            return Ok(Step::Silent);
        };
        let parameters = Parameters::parse(message.expect(ber::OCTETS)?)?;
        let (tag, data) = message.element()?;
        let size_max_byte = manager_size_byte.min(self.own.size_max_byte);
        let reply = |user, level| ReplyTo::User {
            message_id,
            user,
            level,
            size_max_byte,
        };
        let reportable = flags & REPORTABLE != 0;

        let user =
            match usm::authenticate(&self.users, self.own.engine(), datagram, &parameters, level) {
                Ok(user) => user,
                Err((why, signer)) => {
                    let id = if level < Level::Private {
                        plain_request_id(tag, data)
                    } else {
                        0
                    };
                    let report_level = signer.map_or(Level::Open, |_| Level::Auth);
                    let variable = self.own.counters.refuse(why);
                    return Ok(self.report(reportable, variable, id, &reply(signer, report_level)));
                }
            };
        let mut decrypted = Vec::new();
        let body = (tag, data);
        let Some(scoped) = open(&self.users[user], level, &parameters, body, &mut decrypted)?
        else {
            let variable = self.own.counters.refuse(UsmFailure::DecryptionError);
            return Ok(self.report(reportable, variable, 0, &reply(None, Level::Open)));
        };
        self.scoped_pdu(scoped, reportable, reply(Some(user), level), variables)
    }

    fn scoped_pdu(
        &mut self,
        mut scoped: Reader,
        reportable: bool,
        reply_to: ReplyTo,
        variables: &mut dyn Variables,
    ) -> Result<Step, BerError> {
        let context_engine_id = scoped.expect(ber::OCTETS)?;
        let context_name = scoped.expect(ber::OCTETS)?;
        let (tag, content) = scoped.element()?;
        let Parsed::Request(kind) = self.request.parse(tag, content)? else {
            count(&mut self.own.counters.unknown_pdu_handlers);
            return Ok(Step::Silent);
        };
        if context_engine_id != self.own.engine_id || !context_name.is_empty() {
            let variable = self.own.counters.refuse_context();
            return Ok(self.report(reportable, variable, self.request.id, &reply_to));
        }
        let ReplyTo::User {
            user: Some(user),
            level,
            ..
        } = reply_to
        else {
            return Ok(Step::Silent);
        };
        if level < self.users[user].level() {
            return Ok(self.respond(
                (ErrorStatus::AuthorizationError, 0),
                self.request.id,
                &reply_to,
            ));
        }
        let access = self.users[user].access;
        Ok(self.serve(kind, access, reply_to, variables))
    }

    fn serve(
        &mut self,
        kind: Kind,
        access: Access,
        reply_to: ReplyTo,
        variables: &mut dyn Variables,
    ) -> Step {
        self.body.reset(self.room_byte(&reply_to));
        let version = reply_to.version();
        let request_id = self.request.id;
        if kind != Kind::Set {
            let table = variables.table(&self.own);
            let outcome = pdu::read(&self.request, kind, version, table, &mut self.body);
            return self.respond(outcome, request_id, &reply_to);
        }
        let binds = self.request.take_binds();
        if access == Access::ReadWrite {
            return Step::Set(PendingSet {
                binds,
                request_id,
                reply_to,
            });
        }
        let outcome = pdu::finish_set(&binds, version, (ErrorStatus::NoAccess, 1), &mut self.body);
        self.respond(outcome, request_id, &reply_to)
    }

    /// Writes the answer to a SET; what came out of it is the error-status and the place (from 1) of the binding that
    /// was refused.
    pub fn finish_set(&mut self, pending: &PendingSet, outcome: Outcome) -> Step {
        self.body.reset(self.room_byte(&pending.reply_to));
        let outcome = pdu::finish_set(
            &pending.binds,
            pending.reply_to.version(),
            outcome,
            &mut self.body,
        );
        self.respond(outcome, pending.request_id, &pending.reply_to)
    }
}

/// The scoped PDU of a message, decrypted if need be. `None` if it cannot be decrypted.
fn open<'a>(
    user: &User,
    level: Level,
    parameters: &Parameters,
    (tag, data): (u8, &'a [u8]),
    decrypted: &'a mut Vec<u8>,
) -> Result<Option<Reader<'a>>, BerError> {
    if level == Level::Private {
        decrypted.extend_from_slice(if tag == ber::OCTETS { data } else { &[] });
        let opened = user.decrypt(parameters, decrypted);
        let scoped = Reader::new(decrypted).inside(ber::SEQUENCE);
        return Ok(scoped.ok().filter(|_| opened));
    }
    if tag == ber::SEQUENCE {
        return Ok(Some(Reader::new(data)));
    }
    Err(BerError::Tag {
        expected: ber::SEQUENCE,
        found: tag,
    })
}

/// request-id of a scoped PDU in plain text, 0 when it has none (RFC 3412 §7.1, step 3d).
fn plain_request_id(tag: u8, data: &[u8]) -> i32 {
    let id = || {
        let mut scoped = Reader::new(data);
        scoped.expect(ber::OCTETS)?;
        scoped.expect(ber::OCTETS)?;
        let (_, pdu) = scoped.element()?;
        Reader::new(pdu).integer()
    };
    if tag == ber::SEQUENCE {
        id().unwrap_or(0)
    } else {
        0
    }
}

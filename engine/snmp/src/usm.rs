//! The User-based Security Model: authentication, integrity and timeliness of messages (RFC 3414 §3.2).

use crate::ber::{self, BerError, Reader};
use crate::counters::UsmFailure;
use crate::keys::{AuthKey, AuthProtocol, PrivKey, PrivProtocol, SALT_BYTE};
use crate::pdu::Access;

/// Permitted difference between the time in a message and the time of this engine (RFC 3414 §2.2.3).
pub const WINDOW_S: u32 = 150;

/// Security level, in the order of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// noAuthNoPriv.
    Open,
    /// authNoPriv.
    Auth,
    /// authPriv.
    Private,
}

impl Level {
    /// From msgFlags; `None` for privacy without authentication.
    pub fn from_flags(flags: u8) -> Option<Self> {
        match flags & 0b11 {
            0b00 => Some(Self::Open),
            0b01 => Some(Self::Auth),
            0b11 => Some(Self::Private),
            _ => None,
        }
    }

    /// As msgFlags, not reportable.
    pub fn flags(self) -> u8 {
        match self {
            Self::Open => 0b00,
            Self::Auth => 0b01,
            Self::Private => 0b11,
        }
    }
}

/// A user as configured. Keys are Ku, not yet localized ([`AuthProtocol::password_key`]).
#[derive(Debug, Clone)]
pub struct UserConfig {
    /// msgUserName.
    pub name: String,
    /// What the user may do.
    pub access: Access,
    /// Authentication protocol and key Ku.
    pub auth: Option<(AuthProtocol, Vec<u8>)>,
    /// Privacy protocol and key Ku, which was made with the hash of `auth`.
    pub privacy: Option<(PrivProtocol, Vec<u8>)>,
}

/// A user with keys for this engine.
#[derive(Debug)]
pub struct User {
    /// msgUserName.
    pub name: Vec<u8>,
    /// What the user may do.
    pub access: Access,
    /// The key that signs.
    pub auth: Option<AuthKey>,
    /// The key that encrypts.
    pub privacy: Option<PrivKey>,
}

impl User {
    /// Localizes the keys of a configured user. Privacy without authentication is invalid and left out.
    pub fn localize(config: &UserConfig, engine_id: &[u8]) -> Self {
        let auth = config.auth.as_ref();
        let privacy = auth
            .zip(config.privacy.as_ref())
            .map(|((hash, _), (protocol, key))| {
                let localized = hash.localize(key, engine_id);
                PrivKey::new(*protocol, &localized)
            });
        Self {
            name: config.name.as_bytes().to_vec(),
            access: config.access,
            auth: auth.map(|(hash, key)| AuthKey::new(*hash, &hash.localize(key, engine_id))),
            privacy,
        }
    }

    /// The strongest level that the user has keys for. The access model of this agent requires it.
    pub fn level(&self) -> Level {
        match (&self.auth, &self.privacy) {
            (Some(_), Some(_)) => Level::Private,
            (Some(_), None) => Level::Auth,
            _ => Level::Open,
        }
    }

    /// Decrypts data in place by the parameters of its message. Whether it could: not without a key, or a salt of 8 bytes.
    pub fn decrypt(&self, parameters: &Parameters, data: &mut [u8]) -> bool {
        let key = self.privacy.as_ref();
        key.zip(parameters.salt())
            .is_some_and(|(key, salt)| key.decrypt(parameters.boots, parameters.time_s, salt, data))
    }
}

/// msgSecurityParameters.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// msgAuthoritativeEngineID.
    pub engine_id: &'a [u8],
    /// msgAuthoritativeEngineBoots.
    pub boots: u32,
    /// msgAuthoritativeEngineTime.
    pub time_s: u32,
    /// msgUserName.
    pub user: &'a [u8],
    /// msgAuthenticationParameters.
    pub digest: &'a [u8],
    /// msgPrivacyParameters.
    pub salt: &'a [u8],
}

impl<'a> Parameters<'a> {
    /// Reads the content of the OCTET STRING that holds them.
    pub fn parse(content: &'a [u8]) -> Result<Self, BerError> {
        let mut list = Reader::new(content).inside(ber::SEQUENCE)?;
        let engine_id = list.expect(ber::OCTETS)?;
        let boots = u32::try_from(list.integer()?).map_err(|_| BerError::Integer)?;
        let time_s = u32::try_from(list.integer()?).map_err(|_| BerError::Integer)?;
        let user = list.expect(ber::OCTETS)?;
        let digest = list.expect(ber::OCTETS)?;
        let salt = list.expect(ber::OCTETS)?;
        Ok(Self {
            engine_id,
            boots,
            time_s,
            user,
            digest,
            salt,
        })
    }

    /// The salt, if it has the size of both privacy protocols.
    pub fn salt(&self) -> Option<[u8; SALT_BYTE]> {
        self.salt.try_into().ok()
    }
}

/// The authoritative engine's identity and time.
#[derive(Debug, Clone, Copy)]
pub struct EngineTime<'a> {
    /// snmpEngineID.
    pub id: &'a [u8],
    /// snmpEngineBoots.
    pub boots: u32,
    /// snmpEngineTime.
    pub time_s: u32,
}

/// Checks a message in the order of the RFC and returns the index of the sender among `users`. The second part of an
/// error is the user whose key signs the report (RFC 3414 §3.2, step 7); `None` for an unsigned report.
pub fn authenticate(
    users: &[User],
    engine: EngineTime,
    message: &[u8],
    parameters: &Parameters,
    level: Level,
) -> Result<usize, (UsmFailure, Option<usize>)> {
    if parameters.engine_id != engine.id {
        return Err((UsmFailure::UnknownEngineId, None));
    }
    let at = users
        .iter()
        .position(|user| user.name == parameters.user)
        .ok_or((UsmFailure::UnknownUserName, None))?;
    let user = &users[at];
    if level > user.level() {
        return Err((UsmFailure::UnsupportedSecLevel, None));
    }
    let Some(key) = user.auth.as_ref().filter(|_| level >= Level::Auth) else {
        return Ok(at);
    };
    if parameters.digest.len() != key.digest_byte() || !signed_by(key, message, parameters.digest) {
        return Err((UsmFailure::WrongDigest, None));
    }
    let ended = engine.boots >= i32::MAX as u32;
    if ended
        || parameters.boots != engine.boots
        || parameters.time_s.abs_diff(engine.time_s) > WINDOW_S
    {
        return Err((UsmFailure::NotInTimeWindow, Some(at)));
    }
    Ok(at)
}

/// Whether `digest`, a part of `message`, is the digest of the message with zeros in its place.
fn signed_by(key: &AuthKey, message: &[u8], digest: &[u8]) -> bool {
    const ZEROS: [u8; crate::keys::DIGEST_MAX_BYTE] = [0; crate::keys::DIGEST_MAX_BYTE];
    let start = digest.as_ptr() as usize - message.as_ptr() as usize;
    let after = start + digest.len();
    key.digest([&message[..start], &ZEROS[..digest.len()], &message[after..]])
        .equals(digest)
}

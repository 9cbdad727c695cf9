//! USM's keys, digests and ciphers: RFC 3414 (MD5, SHA-1, DES), RFC 3826 (AES-128), RFC 7860 (SHA-256).

use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockDecryptMut, BlockEncryptMut, KeyIvInit};
use cfb_mode::cipher::AsyncStreamCipher;
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// How many octets of a repeated password are hashed (RFC 3414 A.2).
const STRETCH_BYTE: usize = 1 << 20;
/// Longest digest in a message: HMAC-192-SHA-256.
pub const DIGEST_MAX_BYTE: usize = 24;

/// Authentication protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuthProtocol {
    /// HMAC-MD5-96.
    Md5,
    /// HMAC-SHA-96.
    Sha1,
    /// HMAC-192-SHA-256.
    Sha256,
}

impl AuthProtocol {
    /// Size of the digest in a message.
    pub fn digest_byte(self) -> usize {
        match self {
            Self::Md5 | Self::Sha1 => 12,
            Self::Sha256 => 24,
        }
    }

    /// The key Ku from a password: deliberately slow (a megabyte is hashed), so cache it.
    pub fn password_key(self, password: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5 => stretch::<Md5>(password),
            Self::Sha1 => stretch::<Sha1>(password),
            Self::Sha256 => stretch::<Sha256>(password),
        }
    }

    /// The key Kul for one engine from the user's key.
    pub fn localize(self, user_key: &[u8], engine_id: &[u8]) -> Vec<u8> {
        fn hash_around<D: Digest>(key: &[u8], engine_id: &[u8]) -> Vec<u8> {
            D::new()
                .chain_update(key)
                .chain_update(engine_id)
                .chain_update(key)
                .finalize()
                .to_vec()
        }
        match self {
            Self::Md5 => hash_around::<Md5>(user_key, engine_id),
            Self::Sha1 => hash_around::<Sha1>(user_key, engine_id),
            Self::Sha256 => hash_around::<Sha256>(user_key, engine_id),
        }
    }
}

fn stretch<D: Digest>(password: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return D::new().finalize().to_vec();
    }
    let chunk = password.repeat(4096_usize.div_ceil(password.len()));
    let mut hash = D::new();
    let mut left = STRETCH_BYTE;
    while left > 0 {
        let part = left.min(chunk.len());
        hash.update(&chunk[..part]);
        left -= part;
    }
    hash.finalize().to_vec()
}

/// A localized authentication key, ready to use.
#[derive(Debug, Clone)]
pub struct AuthKey(Keyed);

#[derive(Debug, Clone)]
enum Keyed {
    Md5(Hmac<Md5>),
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
}

/// A digest as part of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageDigest {
    octets: [u8; DIGEST_MAX_BYTE],
    size_byte: usize,
}

impl MessageDigest {
    /// The digest's octets.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..self.size_byte]
    }

    /// Compares in constant time.
    pub fn equals(&self, other: &[u8]) -> bool {
        other.len() == self.size_byte
            && self
                .octets()
                .iter()
                .zip(other)
                .fold(0, |diff, (a, b)| diff | (a ^ b))
                == 0
    }
}

impl AuthKey {
    /// From a localized key.
    pub fn new(protocol: AuthProtocol, localized: &[u8]) -> Self {
        const ANY: &str = "an HMAC takes a key of any length";
        Self(match protocol {
            AuthProtocol::Md5 => Keyed::Md5(Hmac::new_from_slice(localized).expect(ANY)),
            AuthProtocol::Sha1 => Keyed::Sha1(Hmac::new_from_slice(localized).expect(ANY)),
            AuthProtocol::Sha256 => Keyed::Sha256(Hmac::new_from_slice(localized).expect(ANY)),
        })
    }

    /// Size of the digest in a message.
    pub fn digest_byte(&self) -> usize {
        match self.0 {
            Keyed::Md5(_) => AuthProtocol::Md5.digest_byte(),
            Keyed::Sha1(_) => AuthProtocol::Sha1.digest_byte(),
            Keyed::Sha256(_) => AuthProtocol::Sha256.digest_byte(),
        }
    }

    /// The digest of a message given in parts.
    pub fn digest(&self, parts: [&[u8]; 3]) -> MessageDigest {
        fn sign<M: Mac + Clone>(key: &M, parts: [&[u8]; 3], size_byte: usize) -> MessageDigest {
            let mut mac = key.clone();
            parts.into_iter().for_each(|part| mac.update(part));
            let mut octets = [0; DIGEST_MAX_BYTE];
            octets[..size_byte].copy_from_slice(&mac.finalize().into_bytes()[..size_byte]);
            MessageDigest { octets, size_byte }
        }
        match &self.0 {
            Keyed::Md5(key) => sign(key, parts, self.digest_byte()),
            Keyed::Sha1(key) => sign(key, parts, self.digest_byte()),
            Keyed::Sha256(key) => sign(key, parts, self.digest_byte()),
        }
    }
}

/// Privacy protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivProtocol {
    /// CBC-DES (RFC 3414 §8).
    Des,
    /// CFB128-AES-128 (RFC 3826).
    Aes128,
}

/// A localized privacy key.
#[derive(Debug, Clone)]
pub struct PrivKey {
    protocol: PrivProtocol,
    key: [u8; 16],
}

/// Size of msgPrivacyParameters in both protocols.
pub const SALT_BYTE: usize = 8;

impl PrivKey {
    /// From a localized key of at least 16 octets (all digests are that long).
    pub fn new(protocol: PrivProtocol, localized: &[u8]) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&localized[..16]);
        Self { protocol, key }
    }

    /// The plain text must be padded to a multiple of this before [`PrivKey::encrypt`].
    pub fn block_byte(&self) -> usize {
        match self.protocol {
            PrivProtocol::Des => 8,
            PrivProtocol::Aes128 => 1,
        }
    }

    /// msgPrivacyParameters for the `count`-th message.
    pub fn salt(&self, engine_boots: u32, count: u64) -> [u8; SALT_BYTE] {
        match self.protocol {
            PrivProtocol::Des => {
                (u64::from(engine_boots) << 32 | (count & 0xffff_ffff)).to_be_bytes()
            }
            PrivProtocol::Aes128 => count.to_be_bytes(),
        }
    }

    fn aes_iv(boots: u32, time_s: u32, salt: [u8; SALT_BYTE]) -> [u8; 16] {
        let mut iv = [0; 16];
        iv[..4].copy_from_slice(&boots.to_be_bytes());
        iv[4..8].copy_from_slice(&time_s.to_be_bytes());
        iv[8..].copy_from_slice(&salt);
        iv
    }

    fn des_key_iv(&self, salt: [u8; SALT_BYTE]) -> ([u8; 8], [u8; 8]) {
        let mut key = [0; 8];
        key.copy_from_slice(&self.key[..8]);
        let mut iv = salt;
        iv.iter_mut()
            .zip(&self.key[8..])
            .for_each(|(octet, pre)| *octet ^= pre);
        (key, iv)
    }

    /// Encrypts in place; for DES the text's length is a multiple of [`PrivKey::block_byte`].
    pub fn encrypt(&self, boots: u32, time_s: u32, salt: [u8; SALT_BYTE], text: &mut [u8]) {
        match self.protocol {
            PrivProtocol::Aes128 => {
                let iv = Self::aes_iv(boots, time_s, salt);
                cfb_mode::Encryptor::<aes::Aes128>::new(&self.key.into(), &iv.into()).encrypt(text);
            }
            PrivProtocol::Des => {
                let (key, iv) = self.des_key_iv(salt);
                let size_byte = text.len();
                cbc::Encryptor::<des::Des>::new(&key.into(), &iv.into())
                    .encrypt_padded_mut::<NoPadding>(text, size_byte)
                    .expect("the caller filled the text up to whole blocks");
            }
        }
    }

    /// Decrypts in place; false if the length of the text is invalid.
    #[must_use]
    pub fn decrypt(&self, boots: u32, time_s: u32, salt: [u8; SALT_BYTE], text: &mut [u8]) -> bool {
        match self.protocol {
            PrivProtocol::Aes128 => {
                let iv = Self::aes_iv(boots, time_s, salt);
                cfb_mode::Decryptor::<aes::Aes128>::new(&self.key.into(), &iv.into()).decrypt(text);
                true
            }
            PrivProtocol::Des => {
                let (key, iv) = self.des_key_iv(salt);
                cbc::Decryptor::<des::Des>::new(&key.into(), &iv.into())
                    .decrypt_padded_mut::<NoPadding>(text)
                    .is_ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ENGINE_ID: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    #[test]
    fn keys_match_rfc_3414_a_3_1() {
        let user_key = AuthProtocol::Md5.password_key(b"maplesyrup");
        assert_eq!(hex(&user_key), "9faf3283884e92834ebc9847d8edd963");
        assert_eq!(
            hex(&AuthProtocol::Md5.localize(&user_key, &ENGINE_ID)),
            "526f5eed9fcce26f8964c2930787d82b"
        );
    }

    #[test]
    fn keys_match_rfc_3414_a_3_2() {
        let user_key = AuthProtocol::Sha1.password_key(b"maplesyrup");
        assert_eq!(hex(&user_key), "9fb5cc0381497b3793528939ff788d5d79145211");
        let localized = AuthProtocol::Sha1.localize(&user_key, &ENGINE_ID);
        assert_eq!(hex(&localized), "6695febc9288e36282235fc7151f128497b38f3f");
    }

    proptest! {
        #[test]
        fn what_is_encrypted_comes_back(
            key in prop::array::uniform16(any::<u8>()), boots: u32, time_s: u32, count: u64,
            blocks in prop::collection::vec(any::<u64>(), 0..20), aes: bool,
        ) {
            let key = PrivKey::new(if aes { PrivProtocol::Aes128 } else { PrivProtocol::Des }, &key);
            let plain: Vec<u8> = blocks.into_iter().flat_map(u64::to_be_bytes).collect();
            let salt = key.salt(boots, count);
            let mut text = plain.clone();
            key.encrypt(boots, time_s, salt, &mut text);
            prop_assert!(plain.is_empty() || text != plain);
            prop_assert!(key.decrypt(boots, time_s, salt, &mut text));
            prop_assert_eq!(text, plain);
        }
    }
}

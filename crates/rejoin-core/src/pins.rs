use std::collections::{BTreeMap, HashMap, btree_map};
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Pin, SessionId};

/// The pins of a conversation, one per session, the most recently touched last.
#[derive(Clone, Default)]
pub struct Pins {
    /// In the order they were touched.
    by_touch: BTreeMap<u64, Pin>,
    /// When each was touched.
    touched: HashMap<SessionId, u64>,
    touches: u64,
}

impl Pins {
    /// Puts a pin in its newest state at the end.
    pub(crate) fn put(&mut self, pin: Pin) {
        self.touches += 1;
        if let Some(before) = self.touched.insert(pin.session.clone(), self.touches) {
            self.by_touch.remove(&before);
        }
        self.by_touch.insert(self.touches, pin);
    }

    /// The pin of a session.
    pub fn get(&self, session: &SessionId) -> Option<&Pin> {
        self.by_touch.get(self.touched.get(session)?)
    }

    /// All pins, the most recently touched last.
    pub fn iter(&self) -> btree_map::Values<'_, u64, Pin> {
        self.by_touch.values()
    }

    /// How many sessions are known.
    pub fn len(&self) -> usize {
        self.by_touch.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.by_touch.is_empty()
    }
}

impl<'a> IntoIterator for &'a Pins {
    type Item = &'a Pin;
    type IntoIter = btree_map::Values<'a, u64, Pin>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<Pin> for Pins {
    fn from_iter<I: IntoIterator<Item = Pin>>(list: I) -> Self {
        let mut pins = Pins::default();
        list.into_iter().for_each(|pin| pins.put(pin));
        pins
    }
}

impl PartialEq for Pins {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl Serialize for Pins {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Pins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

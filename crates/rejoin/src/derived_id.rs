//! Ids that follow from what they are about: made a second time, by whomever, they are the same.

use uuid::Uuid;

/// Of all ids that are derived.
const NAMESPACE: Uuid = Uuid::from_u128(0x5d3e_7f0c_91b6_4a52_8c1d_2f6a_e0b7_4c39);

/// The id of something that a few texts name. Only the last of them may contain a NUL: then no two lists are one.
pub fn derived_id(what: &str, names: &[&str]) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{what}\0{}", names.join("\0")).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_that_of_its_names_and_no_other_has_it() {
        assert_eq!(derived_id("turn", &["a", "b"]), derived_id("turn", &["a", "b"]));
        assert_ne!(derived_id("turn", &["a", "b"]), derived_id("turn", &["ab", ""]));
        assert_ne!(derived_id("turn", &["a", "b"]), derived_id("conversation", &["a", "b"]));
        // It stands in the logs of daemons.
        let known = derived_id("turn", &["phone", "1"]);
        assert_eq!(known, Uuid::new_v5(&NAMESPACE, b"turn\0phone\x001"));
    }
}

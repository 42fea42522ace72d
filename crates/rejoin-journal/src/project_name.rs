use std::fmt::Write as _;

/// The longest name before a hash takes over; file systems allow 255 bytes.
const LONGEST: usize = 200;

/// The directory of a project's journals. Names may collide; the records tell projects apart.
pub(crate) fn project_name(project: &str) -> String {
    let mut name: String = project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        let _ = write!(name, "-{:016x}", fnv1a(project.as_bytes()));
    }
    if name.is_empty() {
        name.push('-');
    }
    name
}

/// Stable for ever, unlike the standard library's hasher: it becomes part of a path.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_plain_name() {
        assert_eq!(project_name("/home/ann/my app"), "-home-ann-my-app");
        assert_eq!(project_name("/home/änn/.x"), "-home--nn--x");
        assert_eq!(project_name(""), "-");
        assert_eq!(project_name(".."), "--");
    }

    #[test]
    fn long_paths_that_begin_alike_get_names_of_their_own() {
        let long = "/a".repeat(300);
        let (one, other) = (project_name(&format!("{long}/x")), project_name(&format!("{long}/y")));
        assert_ne!(one, other);
        assert_eq!(one.len(), 217);
        assert_eq!(project_name(&"x".repeat(200)).len(), 200);
    }

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}

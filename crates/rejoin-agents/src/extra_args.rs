//! The user's own arguments for an agent: passed on, except those that would take permissions,
//! sessions or the output format out of rejoin's hands.

use rejoin_core::Permissions;

use crate::Refusal;

/// One argument as an agent's parser would see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flag<'a> {
    /// `--name` or `-x`, without a value.
    pub(crate) name: &'a str,
    /// What stands after `=`, behind a short flag, or in the next argument.
    pub(crate) value: Option<&'a str>,
}

/// An agent's flags, as far as the user's own arguments go. A list has blanks between its words; a short flag in
/// it means itself, any other word each long flag that it is a part of, whatever a version calls that in full.
pub(crate) struct Rules {
    pub(crate) agent: &'static str,
    /// Flags without a value: a word after one of them would be a prompt or a command.
    pub(crate) switches: &'static str,
    /// Letters of short flags that take a value, so that the rest of their cluster is that value.
    pub(crate) short_with_value: &'static str,
    /// Fine although they contain a part that is not.
    pub(crate) fine: &'static str,
    /// What is about permissions.
    pub(crate) permissions: &'static str,
    /// What gives reach to places outside the project, or to tools nobody counted, at the level `read`.
    pub(crate) widening_read: &'static str,
    /// The same at the level `edit`.
    pub(crate) widening_edit: &'static str,
    /// What is about sessions, directories and formats.
    pub(crate) reserved: &'static str,
    /// A long flag as its parser takes it.
    pub(crate) spelled: fn(&str) -> String,
}

impl Rules {
    pub(crate) const NONE: Self = Self {
        agent: "",
        switches: "",
        short_with_value: "",
        fine: "",
        permissions: "",
        widening_read: "",
        widening_edit: "",
        reserved: "",
        spelled: str::to_owned,
    };

    /// Refuses arguments that rejoin must not pass on.
    pub(crate) fn check(&self, args: &[String], level: Permissions) -> Result<(), Refusal> {
        let widening = match level {
            Permissions::Read => self.widening_read,
            Permissions::Edit => self.widening_edit,
            Permissions::Full | Permissions::Agent => "",
        };
        check(self, args, |Flag { name, .. }| {
            if self.fine.split_whitespace().any(|fine| fine == name) {
                Ok(())
            } else if self.lists(self.permissions, name) || self.lists(widening, name) {
                Err(permission_flag(self.agent, name))
            } else if self.lists(self.reserved, name) {
                Err(reserved_flag(self.agent, name))
            } else {
                Ok(())
            }
        })
    }

    fn lists(&self, list: &str, name: &str) -> bool {
        let spelled = (self.spelled)(name);
        let is_long = name.starts_with("--");
        let means =
            |word: &str| if word.len() == 2 { word == name } else { is_long && spelled.contains(word) };
        list.split_whitespace().any(means)
    }

    fn is_switch(&self, name: &str) -> bool {
        self.switches.split_whitespace().any(|switch| switch == name)
    }
}

/// Cuts arguments into flags and hands each to `judge`. A word that belongs to no flag is refused:
/// it would become a prompt or a command.
pub(crate) fn check(
    rules: &Rules,
    args: &[String],
    mut judge: impl FnMut(Flag<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let agent = rules.agent;
    let mut takes_value = false;
    for (at, arg) in args.iter().enumerate() {
        if arg.contains('\0') {
            return Err(Refusal::Unsupported(format!(
                "an argument for {agent} contains a NUL character: {arg:?}"
            )));
        }
        if !arg.starts_with('-') || arg == "-" || arg == "--" {
            if takes_value && arg != "--" {
                continue;
            }
            let text = format!(
                "{arg:?} in the arguments for {agent} belongs to no flag and would be read as a prompt or a \
                 command; write --flag=value, and give the prompt to rejoin"
            );
            return Err(Refusal::Unsupported(text));
        }
        let next = args.get(at + 1).map(String::as_str).filter(|next| !next.starts_with('-'));
        if arg.starts_with("--") {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (arg.as_str(), next.filter(|_| !rules.is_switch(arg))),
            };
            judge(Flag { name, value })?;
            takes_value = !arg.contains('=') && !rules.is_switch(name);
        } else {
            takes_value = short(arg, next, rules, &mut judge)?;
        }
    }
    Ok(())
}

/// A cluster of short flags; says whether the next word may be its value.
fn short<'a>(
    arg: &'a str,
    next: Option<&'a str>,
    rules: &Rules,
    judge: &mut impl FnMut(Flag<'_>) -> Result<(), Refusal>,
) -> Result<bool, Refusal> {
    for (at, letter) in arg.char_indices().skip(1) {
        let name = format!("-{letter}");
        let rest = &arg[at + letter.len_utf8()..];
        if rules.short_with_value.contains(letter) {
            let attached = rest.strip_prefix('=').unwrap_or(rest);
            let value = if rest.is_empty() { next } else { Some(attached) };
            judge(Flag { name: &name, value })?;
            return Ok(rest.is_empty());
        }
        judge(Flag { name: &name, value: None })?;
    }
    Ok(false)
}

/// A flag that would change what the agent may do.
pub(crate) fn permission_flag(agent: &str, name: &str) -> Refusal {
    Refusal::Permissions(format!(
        "{name} is not passed on to {agent}: what an agent may do is set with --permissions read|edit|full|agent"
    ))
}

/// A flag that belongs to rejoin.
fn reserved_flag(agent: &str, name: &str) -> Refusal {
    Refusal::Unsupported(format!(
        "{name} is not passed on to {agent}: rejoin itself decides about sessions, directories and formats"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { agent: "x", switches: "--quick", short_with_value: "n", ..Rules::NONE };

    fn flags(args: &[&str]) -> Result<Vec<(String, Option<String>)>, Refusal> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut seen = Vec::new();
        check(&RULES, &args, |flag| {
            seen.push((flag.name.to_owned(), flag.value.map(str::to_owned)));
            Ok(())
        })?;
        Ok(seen)
    }

    #[test]
    fn flags_are_seen_in_every_form() {
        let seen = flags(&["--a=b=c", "--d", "e", "-xyn", "v", "-nw", "-n=q"]).unwrap();
        let seen: Vec<(&str, Option<&str>)> =
            seen.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        assert_eq!(
            seen,
            [
                ("--a", Some("b=c")),
                ("--d", Some("e")),
                ("-x", None),
                ("-y", None),
                ("-n", Some("v")),
                ("-n", Some("w")),
                ("-n", Some("q")),
            ]
        );
    }

    #[test]
    fn a_word_of_its_own_is_refused() {
        for args in [
            &["mcp"][..],
            &["--a=b", "mcp"],
            &["--quick", "mcp"],
            &["--"],
            &["-"],
            &["-x", "mcp"],
            &["--a\0"],
        ] {
            assert!(matches!(flags(args), Err(Refusal::Unsupported(_))), "{args:?}");
        }
    }
}

//! The user's own arguments for an agent: passed on, except those that would take permissions,
//! sessions or the output format out of rejoin's hands.

use crate::Refusal;

/// One argument as an agent's parser would see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flag<'a> {
    /// `--name` or `-x`, without a value.
    pub(crate) name: &'a str,
    /// What stands after `=`, behind a short flag, or in the next argument.
    pub(crate) value: Option<&'a str>,
}

/// How an agent's parser reads short flags.
#[derive(Clone, Copy)]
pub(crate) struct Syntax {
    /// Flags without a value: a word after one of them would be a prompt or a command.
    pub(crate) switches: &'static [&'static str],
    /// Short flags that take a value, so that the rest of their cluster is that value.
    pub(crate) short_with_value: &'static [char],
}

/// Cuts arguments into flags and hands each to `judge`. A word that belongs to no flag is refused:
/// it would become a prompt or a command.
pub(crate) fn check(
    agent: &str,
    args: &[String],
    syntax: Syntax,
    mut judge: impl FnMut(Flag<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
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
                None => (arg.as_str(), next.filter(|_| !syntax.switches.contains(&arg.as_str()))),
            };
            judge(Flag { name, value })?;
            takes_value = !arg.contains('=') && !syntax.switches.contains(&name);
        } else {
            takes_value = short(arg, next, syntax, &mut judge)?;
        }
    }
    Ok(())
}

/// A cluster of short flags; says whether the next word may be its value.
fn short<'a>(
    arg: &'a str,
    next: Option<&'a str>,
    syntax: Syntax,
    judge: &mut impl FnMut(Flag<'_>) -> Result<(), Refusal>,
) -> Result<bool, Refusal> {
    for (at, letter) in arg.char_indices().skip(1) {
        let name = format!("-{letter}");
        let rest = &arg[at + letter.len_utf8()..];
        if syntax.short_with_value.contains(&letter) {
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
pub(crate) fn reserved_flag(agent: &str, name: &str) -> Refusal {
    Refusal::Unsupported(format!(
        "{name} is not passed on to {agent}: rejoin itself decides about sessions, directories and formats"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax { switches: &["--quick"], short_with_value: &['n'] };

    fn flags(args: &[&str]) -> Result<Vec<(String, Option<String>)>, Refusal> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut seen = Vec::new();
        check("x", &args, SYNTAX, |flag| {
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

//! A command line as it may be shown: arguments the user configured can carry secrets.

/// What stands for a value that is not shown.
const HIDDEN: &str = "…";

/// The arguments, without the values of those whose name says that they are a secret.
pub(crate) fn shown_args(args: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut hide_next = false;
    let show = |arg: String| {
        let name = arg.split_once('=').map(|(name, _)| name.to_owned());
        let is_flag = arg.starts_with('-');
        if std::mem::take(&mut hide_next) && !is_flag {
            return HIDDEN.to_owned();
        }
        match name {
            Some(name) if is_secret(&name) => format!("{name}={HIDDEN}"),
            None if is_flag && is_secret(&arg) => {
                hide_next = true;
                arg
            }
            _ => arg,
        }
    };
    args.into_iter().map(show).collect()
}

/// Words in a name that say so.
const WORDS: [&str; 10] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "credentials",
    "headers",
    "password",
    "secret",
    "token",
    "cookie",
];

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    name.ends_with("_key") || words.any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(args: &[&str]) -> Vec<String> {
        shown_args(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn a_secret_is_named_and_not_shown() {
        let args = [
            "-c",
            "model_providers.x.api_key=sk-1",
            "--api-key",
            "sk-2",
            "--token=t",
            "-c",
            "x.http_headers={A=1}",
        ];
        let expected =
            ["-c", "model_providers.x.api_key=…", "--api-key", "…", "--token=…", "-c", "x.http_headers=…"];
        assert_eq!(shown(&args), expected);
    }

    #[test]
    fn everything_else_is_shown_as_it_is() {
        let args = ["--model=opus", "--max-tokens=5", "--token", "--verbose", "a=b", "-", "--session-id=1"];
        assert_eq!(shown(&args), args);
    }
}

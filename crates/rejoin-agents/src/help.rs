use std::collections::BTreeSet;

use crate::ProbeAnswer;

/// The flags a help text defines. Descriptions mention flags too, but stand further to the right.
pub(crate) fn flags(help: &str) -> BTreeSet<String> {
    const DEEPEST_INDENT: usize = 6;
    let definitions = help.lines().filter(|line| {
        let indent = line.len() - line.trim_start().len();
        (1..=DEEPEST_INDENT).contains(&indent) && line.trim_start().starts_with('-')
    });
    let words = definitions.flat_map(|line| {
        line.split_whitespace()
            .take_while(|word| word.starts_with('-'))
            .map(|word| word.trim_end_matches(','))
    });
    words.map(|flag| flag.split(['=', '[', '<']).next().unwrap_or(flag).to_owned()).collect()
}

/// The flags of a probe's answer; none if there was no answer.
pub(crate) fn flags_of(answer: Option<&ProbeAnswer>) -> BTreeSet<String> {
    answer.filter(|answer| answer.answered).map(|answer| flags(&answer.stdout)).unwrap_or_default()
}

/// The first line of a `--version` answer.
pub(crate) fn version_line(answer: Option<&ProbeAnswer>) -> Option<&str> {
    let answer = answer.filter(|answer| answer.answered)?;
    answer.stdout.lines().map(str::trim).find(|line| !line.is_empty())
}

/// The numbers of a version, if it is one: `v1.3.0-beta` is 1, 3, 0.
pub(crate) fn numbers(version: Option<&str>) -> Option<[u64; 3]> {
    let release = version?.trim_start_matches('v').split(['-', '+']).next()?;
    let mut numbers = release.split('.').map(str::parse::<u64>);
    let version = [numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?];
    numbers.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_from_definitions_not_from_descriptions() {
        let help = "\
Options:
  -c, --continue                        Continue, or use --resume
  --allowedTools, --allowed-tools <tools...>
      Comma-separated (see --tools)
  --bare                                Minimal, see
                                        --settings, --agents
      --json
          Print events
  --tmux=classic                        x
";
        let found: Vec<String> = flags(help).into_iter().collect();
        assert_eq!(
            found,
            ["--allowed-tools", "--allowedTools", "--bare", "--continue", "--json", "--tmux", "-c"]
        );
    }
}

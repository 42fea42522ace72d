//! The agents, and all in which they differ: a scenario tells one story about each of them.

/// The agent in the leading part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Pi,
    Qwen,
}

impl Who {
    pub(super) const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::OpenCode, Self::Pi, Self::Qwen];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
            Self::Qwen => "qwen",
        }
    }

    /// Somebody else, and a quick one.
    pub(super) fn other(self) -> Self {
        if self == Self::Codex { Self::Claude } else { Self::Codex }
    }

    /// Where it keeps all that it keeps, below the home.
    pub(super) fn store(self) -> &'static str {
        match self {
            Self::Claude => ".claude",
            Self::Codex => ".codex",
            Self::Gemini => ".gemini",
            Self::OpenCode => ".local/share/opencode",
            Self::Pi => ".pi/agent",
            Self::Qwen => ".qwen",
        }
    }

    /// Where its sessions are, below the store. OpenCode has one database for all.
    pub(super) fn sessions(self) -> &'static str {
        match self {
            Self::Claude | Self::Qwen => "projects",
            Self::Codex | Self::Pi => "sessions",
            Self::Gemini => "tmp",
            Self::OpenCode => "",
        }
    }

    /// How the file of a session ends. Gemini's has only the beginning of the id.
    pub(super) fn file_of(self, session: &str) -> String {
        let name = if self == Self::Gemini { &session[..8] } else { session };
        format!("{name}.jsonl")
    }

    /// Its own command line for one more turn in a session, the prompt on standard input.
    pub(super) fn bare(self, session: &str) -> Vec<&str> {
        match self {
            Self::Claude => vec!["-p", "--resume", session],
            Self::Codex => vec!["exec", "resume", "--skip-git-repo-check", session, "-"],
            Self::Gemini | Self::Qwen => vec!["--resume", session],
            Self::OpenCode => vec!["run", "-s", session],
            Self::Pi => vec!["-p", "--session", session],
        }
    }

    /// The arguments that begin a session in its own command, with the prompt on standard input.
    pub(super) fn bare_first(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Pi => &["-p"],
            Self::Codex => &["exec", "--skip-git-repo-check", "-"],
            Self::Gemini | Self::Qwen => &[],
            Self::OpenCode => &["run"],
        }
    }

    /// Its answers come piece by piece; the others' come whole.
    pub(super) fn streams(self) -> bool {
        !matches!(self, Self::Codex | Self::OpenCode)
    }

    /// How `--model` names a model: OpenCode wants to know the provider, too.
    pub(super) fn model(self, name: &str) -> String {
        if self == Self::OpenCode { format!("scripted/{name}") } else { name.to_owned() }
    }

    /// It names its session as soon as it begins. OpenCode does with the first thing that the model says or does.
    pub(super) fn names_its_session_at_once(self) -> bool {
        self != Self::OpenCode
    }

    /// What tells its own process among all others: where it is installed. Pi takes that from its command line.
    pub(super) fn process(self) -> &'static str {
        if self == Self::Pi { ": pi" } else { "/node_modules/" }
    }

    /// It calls a command that ended with another code than 0 a failed one. Gemini and Qwen tell the model the code,
    /// and everybody else that the tool did its work.
    pub(super) fn tells_of_failed_commands(self) -> bool {
        !matches!(self, Self::Gemini | Self::Qwen)
    }

    /// It says which model answers. Codex and OpenCode print no word about it, so the receipt names none.
    pub(super) fn tells_its_model(self) -> bool {
        !matches!(self, Self::Codex | Self::OpenCode)
    }

    /// It counts what it asks on its own behalf (which model to take, what to remember) as used by the turn.
    pub(super) fn counts_its_errands(self) -> bool {
        matches!(self, Self::Gemini | Self::Qwen)
    }

    /// It stores a session whose first turn failed. Gemini takes all of it back, although it had named the session.
    pub(super) fn keeps_a_failed_beginning(self) -> bool {
        self != Self::Gemini
    }

    /// It takes instructions by a flag, for one turn. The others read them in the prompt, so that the session keeps
    /// them.
    pub(super) fn is_instructed_by_flag(self) -> bool {
        matches!(self, Self::Claude | Self::Pi | Self::Qwen)
    }

    /// It has a shell at the level `read`, in a sandbox.
    pub(super) fn looks_by_shell(self) -> bool {
        self == Self::Codex
    }

    /// Why it cannot be kept to the level `edit`.
    pub(super) fn is_not_kept_to_edit(self) -> Option<&'static str> {
        (self == Self::Pi)
            .then_some("its tool for writing reaches outside of the project, so the level is refused")
    }

    /// It keeps a prompt that failed as a message of its own. Claude hands it on in one message with the next one,
    /// Gemini takes it back.
    pub(super) fn keeps_failed_prompts_apart(self) -> bool {
        !matches!(self, Self::Claude | Self::Gemini)
    }

    /// Parts of the names of files that it makes anew at each start; none of them is about a turn.
    pub(super) fn scraps(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["/.claude/backups/"],
            Self::Codex => &["/.codex/tmp/", ".sqlite-"],
            _ => &[],
        }
    }

    /// It tries again for minutes when the model fails for a while, and cannot be told not to.
    pub(super) fn is_stubborn(self) -> bool {
        self == Self::Qwen
    }

    /// A prompt as it reaches the model: with what keeps the agent from acting on it, and what it adds or cuts off.
    pub(super) fn handed_on(self, prompt: &str) -> String {
        match self {
            Self::Claude | Self::Codex | Self::OpenCode => prompt.to_owned(),
            Self::Gemini => {
                let unseen = if prompt.starts_with('/') { "\u{200b}" } else { "" };
                format!("{unseen}{}", self.quoted(prompt))
            }
            Self::Pi => prompt.trim_end().to_owned(),
            Self::Qwen => {
                let line = if prompt.starts_with('/') { "\n" } else { "" };
                format!("{line}{}\n\n", self.quoted(prompt))
            }
        }
    }

    /// A part of a prompt as it reaches the model: Gemini and Qwen put files in where an `@` is not marked.
    pub(super) fn quoted(self, text: &str) -> String {
        let marked = matches!(self, Self::Gemini | Self::Qwen);
        if marked { text.replace("@README", "\\@README") } else { text.to_owned() }
    }
}

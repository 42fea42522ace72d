//! Requests as the engine would make them.

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use rejoin_agents::{
    Attached, Capabilities, Definition, Driver, IdSource, ProbeAnswer, Process, ProcessRequest, Refusal,
    Step, TurnRequest, find, warnings_beforehand,
};
use rejoin_core::compose::{Composed, Wording, compose};
use rejoin_core::{
    Agent, Mark, MessageId, Permissions, Pin, PinState, Plan, Reason, Scope, SessionId, Usage, Witness,
};
use uuid::Uuid;

use crate::recording::directory;

pub(crate) const CLAUDE_SESSION: &str = "766fde6e-0724-4c4c-bed4-a8c19bfcc35e";
pub(crate) const GEMINI_SESSION: &str = "9febcd42-edb2-4407-96f3-728717a91454";
pub(crate) const QWEN_SESSION: &str = "3f0c6a52-8d1e-4b7a-9c35-6e2f1a0b4d98";
pub(crate) const CODEX_SESSION: &str = "01a1e09c-6875-7203-a42d-c11166b3c878";
pub(crate) const OPENCODE_SESSION: &str = "ses_e1f622e5effeNebwavi3K0Zyvz";

pub(crate) fn definition(agent: &Agent) -> Arc<dyn Definition> {
    find(agent).unwrap()
}

pub(crate) fn answer(stdout: &str) -> ProbeAnswer {
    ProbeAnswer { answered: true, stdout: stdout.to_owned(), stderr: String::new() }
}

pub(crate) fn help(agent: &str, name: &str) -> ProbeAnswer {
    answer(&std::fs::read_to_string(directory(agent).join(format!("{name}.help.txt"))).unwrap())
}

pub(crate) fn gemini() -> Agent {
    Agent::named("gemini")
}

pub(crate) fn opencode() -> Agent {
    Agent::named("opencode")
}

/// OpenCode prints its help there.
pub(crate) fn on_stderr(answer: ProbeAnswer) -> ProbeAnswer {
    ProbeAnswer { stdout: String::new(), stderr: answer.stdout, ..answer }
}

/// What the recorded versions say about themselves.
pub(crate) fn capabilities(agent: &Agent) -> Capabilities {
    static CLAUDE: LazyLock<Capabilities> = LazyLock::new(|| {
        let answers = [answer("2.1.197 (Claude Code)\n"), help("claude", "claude")];
        definition(&Agent::Claude).learn(&answers)
    });
    static CODEX: LazyLock<Capabilities> = LazyLock::new(|| {
        let [exec, resume] = ["codex_exec", "codex_exec_resume"].map(|name| help("codex", name));
        definition(&Agent::Codex).learn(&[answer("codex-cli 0.166.0\n"), exec, resume])
    });
    static GEMINI: LazyLock<Capabilities> =
        LazyLock::new(|| definition(&gemini()).learn(&[answer("0.61.0\n"), help("gemini", "gemini")]));
    static QWEN: LazyLock<Capabilities> =
        LazyLock::new(|| definition(&Agent::Qwen).learn(&[answer("0.15.10\n"), help("qwen", "qwen")]));
    static OPENCODE: LazyLock<Capabilities> = LazyLock::new(|| {
        let [run, list] = ["run", "session_list"].map(|name| help("opencode", name)).map(on_stderr);
        definition(&opencode()).learn(&[answer("1.18.33\n"), run, list])
    });
    match agent.as_str() {
        "qwen" => QWEN.clone(),
        "claude" => CLAUDE.clone(),
        "gemini" => GEMINI.clone(),
        "codex" => CODEX.clone(),
        "opencode" => OPENCODE.clone(),
        _ => definition(agent).learn(&[]),
    }
}

/// The answer of a program to `<command> exec <unknown word> --help`.
pub(crate) fn root_help() -> ProbeAnswer {
    help("codex", "codex_proto")
}

fn numbered() -> IdSource {
    let number = AtomicU64::new(0);
    Arc::new(move || MessageId::new(Uuid::from_u128(u128::from(number.fetch_add(1, Ordering::Relaxed) + 1))))
}

/// A request in the making; the defaults are a first turn with nothing special.
pub(crate) struct Asked {
    pub(crate) agent: Agent,
    pub(crate) capabilities: Capabilities,
    pub(crate) prompt: String,
    pub(crate) resume: Option<String>,
    /// The size of the session that is resumed.
    pub(crate) stored: Option<u64>,
    pub(crate) new_session: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) permissions: Permissions,
    pub(crate) system_prompt: Option<String>,
    pub(crate) append_system_prompt: Option<String>,
    pub(crate) extra_args: Vec<String>,
    pub(crate) ephemeral: bool,
    pub(crate) dir: String,
    pub(crate) store: Option<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) can_ask: bool,
    pub(crate) total_before: Usage,
    pub(crate) attachments: Vec<Attached>,
}

impl Asked {
    pub(crate) fn of(agent: Agent) -> Self {
        Self {
            capabilities: capabilities(&agent),
            model: (agent == opencode()).then(|| "mock/mock-model".to_owned()),
            agent,
            prompt: "hello".into(),
            resume: None,
            stored: None,
            new_session: None,
            permissions: Permissions::Agent,
            system_prompt: None,
            append_system_prompt: None,
            extra_args: Vec::new(),
            ephemeral: false,
            dir: "/home/dev/proj".into(),
            store: Some("/home/dev/.store".into()),
            env: Vec::new(),
            can_ask: false,
            total_before: Usage::default(),
            attachments: Vec::new(),
        }
    }

    pub(crate) fn claude() -> Self {
        Self::of(Agent::Claude)
    }

    pub(crate) fn codex() -> Self {
        Self::of(Agent::Codex)
    }

    pub(crate) fn gemini() -> Self {
        Self::of(gemini())
    }

    pub(crate) fn qwen() -> Self {
        Self::of(Agent::Qwen)
    }

    /// OpenCode, with a model: without one it is refused.
    pub(crate) fn opencode() -> Self {
        Self::of(opencode())
    }

    pub(crate) fn resuming(mut self, session: &str) -> Self {
        self.resume = Some(session.to_owned());
        self
    }

    pub(crate) fn level(mut self, permissions: Permissions) -> Self {
        self.permissions = permissions;
        self
    }

    pub(crate) fn extra(mut self, args: &[&str]) -> Self {
        self.extra_args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    pub(crate) fn prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    fn composed(&self) -> Composed {
        let plan = match &self.resume {
            None => Plan::Fresh { why: Reason::FirstTurn, history: Vec::new() },
            Some(session) => Plan::Resume { pin: Box::new(self.pin(session)), catch_up: Vec::new() },
        };
        let wording = Wording {
            told: Vec::new(),
            unread: std::collections::HashMap::new(),
            prompt: &self.prompt,
            instructions: None,
            after_cut: false,
            after_question: false,
            budget: usize::MAX,
        };
        compose(plan, &wording, || "key".to_owned())
    }

    fn pin(&self, session: &str) -> Pin {
        Pin {
            session: definition(&self.agent).session_id(session).unwrap(),
            scope: Scope::Shared,
            dir: self.dir.clone(),
            store: String::new(),
            product: String::new(),
            home: String::new(),
            state: PinState::Live,
            seen: Mark::EMPTY,
            exposed: Mark::EMPTY,
            witness: self.stored.map(|size| Witness { path: String::new(), size, mtime: 0 }),
            at_least: None,
            lossy: false,
            total: None,
            failing: None,
        }
    }

    /// The process, with the warnings of the turn it is for.
    pub(crate) fn launch(&self) -> Result<Process, Refusal> {
        self.begin().map(|begun| begun.process)
    }

    pub(crate) fn begin(&self) -> Result<Begun, Refusal> {
        let definition = definition(&self.agent);
        let new_session: Option<SessionId> =
            self.new_session.as_ref().map(|session| definition.session_id(session).unwrap());
        let composed = self.composed();
        let turn = TurnRequest {
            composed: &composed,
            attachments: &self.attachments,
            copies: Path::new("/rejoin/attached"),
            model: self.model.as_deref(),
            permissions: self.permissions,
            can_ask: self.can_ask,
            total_before: self.total_before,
            ids: numbered(),
        };
        let mut process = definition.process(&ProcessRequest {
            turn: &turn,
            new_session: new_session.as_ref(),
            capabilities: &self.capabilities,
            system_prompt: self.system_prompt.as_deref(),
            append_system_prompt: self.append_system_prompt.as_deref(),
            endpoint: None,
            extra_args: &self.extra_args,
            ephemeral: self.ephemeral,
            dir: Path::new(&self.dir),
            store: self.store.as_ref().map(Path::new),
            env: &|name| {
                let set = self.env.iter().find(|(known, _)| known == name);
                set.map(|(_, value)| value.into())
            },
            own_dir: Path::new("/rejoin/agents/own"),
        })?;
        let mut first = Vec::new();
        process.driver.begin_turn(&turn, &mut first)?;
        process.warnings.extend(warnings_beforehand(&mut first));
        Ok(Begun { process, first })
    }

    pub(crate) fn driver(&self) -> Begun {
        self.begin().unwrap()
    }

    /// The arguments as they would be typed.
    pub(crate) fn args(&self) -> String {
        let launch = self.launch().unwrap();
        let args = launch.args.iter().map(|arg| arg.to_string_lossy().into_owned());
        let mut text = args.collect::<Vec<_>>().join(" ");
        for warning in launch.warnings {
            let _ = write!(text, "\nwarning: {warning}");
        }
        text
    }

    pub(crate) fn refusal(&self) -> Refusal {
        match self.launch() {
            Ok(launch) => panic!("not refused: {:?}", launch.args),
            Err(refusal) => refusal,
        }
    }
}

/// A process whose turn has begun.
pub(crate) struct Begun {
    pub(crate) process: Process,
    first: Vec<Step>,
}

impl Begun {
    /// What is to be done first.
    pub(crate) fn start(&mut self, steps: &mut Vec<Step>) {
        steps.append(&mut self.first);
    }
}

impl Deref for Begun {
    type Target = dyn Driver;

    fn deref(&self) -> &Self::Target {
        &*self.process.driver
    }
}

impl DerefMut for Begun {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.process.driver
    }
}

use std::sync::{Arc, LazyLock};

use rejoin_core::Agent;

use crate::Definition;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::demo::Demo;
use crate::gemini::Gemini;
use crate::openai::OpenAi;
use crate::opencode::OpenCode;
use crate::pi::Pi;
use crate::qwen::Qwen;

/// The agents somebody can use, in the order they are shown and tried. Cheap to clone.
#[derive(Clone)]
pub struct Agents(Arc<[Arc<dyn Definition>]>);

impl Agents {
    /// These, in this order. Of two with one name the first is found.
    pub fn new(agents: Vec<Arc<dyn Definition>>) -> Self {
        Self(agents.into())
    }

    /// Every agent this version knows, made once.
    pub fn known() -> &'static Self {
        static KNOWN: LazyLock<Agents> = LazyLock::new(|| {
            Agents::new(vec![
                Arc::new(Claude),
                Arc::new(Codex),
                Arc::new(Gemini),
                Arc::new(OpenCode),
                Arc::new(Pi),
                Arc::new(Qwen),
                Arc::new(OpenAi),
                Arc::new(Demo::FIRST),
                Arc::new(Demo::SECOND),
            ])
        });
        &KNOWN
    }

    /// The agent of that name.
    pub fn find(&self, agent: &Agent) -> Option<Arc<dyn Definition>> {
        self.iter().find(|definition| definition.agent() == *agent).cloned()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<dyn Definition>> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Agents {
    type Item = &'a Arc<dyn Definition>;
    type IntoIter = std::slice::Iter<'a, Arc<dyn Definition>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Every agent this version knows: [`Agents::known`].
pub fn registry() -> &'static Agents {
    Agents::known()
}

/// The agent of that name, of those this version knows.
pub fn find(agent: &Agent) -> Option<Arc<dyn Definition>> {
    Agents::known().find(agent)
}

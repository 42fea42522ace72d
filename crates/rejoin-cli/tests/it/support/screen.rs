use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use super::{Bench, Call, PATIENCE, eventually, overlong, picture};

/// `rejoin` on a terminal of its own, which `script` makes, and somebody who types.
pub(crate) struct Screen {
    child: Child,
    keyboard: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    /// How much of the text was looked at.
    seen: usize,
    columns: usize,
}

impl Screen {
    /// Runs `rejoin` with these arguments, or says that there is nothing to make a terminal with.
    pub(crate) fn open(bench: &Bench, args: &str) -> Option<Self> {
        Self::with(bench, args, &[])
    }

    /// The same, with additions to the environment. Behind `rejoin`, its exit code and the modes of the terminal
    /// are shown.
    pub(crate) fn with(bench: &Bench, args: &str, env: &[(&str, &str)]) -> Option<Self> {
        Self::sized(bench, args, env, (80, 24))
    }

    /// The same, on a terminal of so many columns and rows.
    pub(crate) fn sized(
        bench: &Bench,
        args: &str,
        env: &[(&str, &str)],
        size: (usize, usize),
    ) -> Option<Self> {
        Self::of(bench, &format!("{} {args}", env!("CARGO_BIN_EXE_rejoin")), env, size)
    }

    /// Another program, a shell for instance.
    pub(crate) fn of(
        bench: &Bench,
        program: &str,
        env: &[(&str, &str)],
        (columns, rows): (usize, usize),
    ) -> Option<Self> {
        let mut call = Call::of(bench, "env", &[]).env("TERM", "xterm");
        for (name, value) in env {
            call = call.env(name, value);
        }
        Self::by(call.command(), program, (columns, rows))
    }

    /// The same by a command that does nothing yet but run what its arguments say, in its environment.
    pub(crate) fn by(mut command: Command, program: &str, (columns, rows): (usize, usize)) -> Option<Self> {
        if !std::env::split_paths("/usr/bin:/bin").any(|dir| dir.join("script").exists()) {
            eprintln!("skipped: there is no `script` to make a terminal with");
            return None;
        }
        // The shell in between is not to mind Ctrl-C, and nobody is to ignore a hang-up as under nohup.
        let script = format!(
            "trap : INT; stty cols {columns} rows {rows}; {program}; echo code=$?; stty cols 80; stty -a"
        );
        command.args(["--default-signal=HUP", "script", "-qec", &script, "/dev/null"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keyboard = child.stdin.take();
        Some(Self { child, keyboard, output, raw: Vec::new(), seen: 0, columns })
    }

    /// Everything that was printed, escape sequences included.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// What is on the screen now, above it included; before `rejoin` has ended, or what it left.
    pub(crate) fn picture(&self) -> String {
        let raw = self.raw();
        picture(raw.split("code=").next().unwrap_or_default(), self.columns)
    }

    /// The lines that were printed wider than the terminal.
    pub(crate) fn overlong(&self) -> Vec<String> {
        overlong(self.raw().split("code=").next().unwrap_or_default(), self.columns)
    }

    fn text(&self) -> String {
        without_sequences(&self.raw())
    }

    /// Waits until these words come, after those waited for before.
    #[track_caller]
    pub(crate) fn shows(&mut self, words: &str) -> &mut Self {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            let rest = text.get(self.seen..).unwrap_or_default();
            if let Some(at) = rest.find(words) {
                self.seen += at + words.len();
                return self;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let bytes = self.output.recv_timeout(left);
            self.raw
                .extend(bytes.unwrap_or_else(|error| panic!("{error}: {words:?} does not come:\n{rest}")));
        }
    }

    /// Presses keys.
    #[track_caller]
    pub(crate) fn types(&mut self, keys: &str) -> &mut Self {
        let keyboard = self.keyboard.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
        self
    }

    /// Waits for the prompt of that agent, then types a line.
    #[track_caller]
    pub(crate) fn says(&mut self, agent: &str, line: &str) -> &mut Self {
        self.shows(&format!("{agent} › ")).types(line).types("\r")
    }

    /// Waits for the end of `rejoin`, which must be this exit code, with the terminal as it was.
    #[track_caller]
    pub(crate) fn ends(mut self, code: i32) -> String {
        self.shows(&format!("code={code}\n"));
        self.shows(" icanon");
        self.shows(" echo ");
        self.keyboard = None;
        eventually("the end of the terminal", || self.child.try_wait().unwrap());
        self.text()
    }
}

impl Screen {
    /// Waits for the end of the terminal, after the exit code was seen.
    #[track_caller]
    pub(crate) fn ends_here(mut self) {
        self.keyboard = None;
        eventually("the end of the terminal", || self.child.try_wait().unwrap());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal shows of what was printed: without sequences and control characters.
pub(crate) fn without_sequences(raw: &str) -> String {
    let mut out = String::new();
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => drop(chars.find(|c| ('\u{40}'..='\u{7e}').contains(c))),
                Some(']' | 'P' | '^' | '_' | 'X') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\t' | '\n' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

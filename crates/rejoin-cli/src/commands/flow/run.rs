use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use clap::Args;
use rejoin_flow::{Options, Prepared, ResumeOptions, RunBy, Source, Stop};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::run_printer::RunPrinter;
use super::step_output;
use crate::commands::turn_args::Output;
use crate::commands::{here, open};
use crate::table::{fitted, width_for_a_person};
use crate::{exit, screen, style, tty};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin flow run review.flow.yaml -i area=src
  rejoin flow run review.flow.yaml -i area=src --step fix      that step and what it waits for
  rejoin flow run review.flow.yaml -i area=src --dry-run       the steps in their order")]
pub(crate) struct FlowRunArgs {
    /// The flow
    pub(crate) file: PathBuf,
    /// Give an input of the flow (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) input: Vec<(String, String)>,
    /// Only this step and what it waits for
    #[arg(long, value_name = "STEP", conflicts_with = "from")]
    pub(crate) step: Option<String>,
    /// Only this step and those after it
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<String>,
    /// Show the steps in their order and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How the outcome is printed: the last step's output, the whole run, or every record and event
    #[arg(short, long, value_enum, default_value_t = Output::Text, hide_possible_values = true, value_name = "text|json|stream-json")]
    pub(crate) output: Output,
    /// Print the final answer as it came also on a terminal: headings, tables and code are not rendered
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Args)]
pub(crate) struct FlowResumeArgs {
    /// Id or its beginning, @ (the newest of this project)
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) run: String,
    /// Take the flow's file as it is now; steps that are done and say the same, as all they wait for, are kept
    #[arg(long)]
    pub(crate) updated: bool,
    /// Run this step and those after it anew, whatever they came to
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<String>,
    /// How the outcome is printed: the last step's output, the whole run, or every record and event
    #[arg(short, long, value_enum, default_value_t = Output::Text, hide_possible_values = true, value_name = "text|json|stream-json")]
    pub(crate) output: Output,
    /// Print the final answer as it came also on a terminal: headings, tables and code are not rendered
    #[arg(long)]
    pub(crate) plain: bool,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `rejoin flow run`
pub(super) fn run(args: &FlowRunArgs) -> anyhow::Result<i32> {
    let flow = Source::open(&args.file)?;
    let rejoin = open()?;
    let options = Options {
        inputs: args.input.clone(),
        step: args.step.clone(),
        from: args.from.clone(),
        dir: here()?,
        ..Options::default()
    };
    let prepared = Prepared::new(&rejoin, flow, &options)?;
    if args.dry_run {
        return dry_run(&prepared, args.output);
    }
    carry_out(prepared, args.output, args.plain)
}

/// `rejoin flow resume`
pub(super) fn resume(args: &FlowResumeArgs) -> anyhow::Result<i32> {
    let rejoin = open()?;
    let begun = rejoin_flow::find(&rejoin, &here()?, &args.run)?.begun;
    if !args.updated
        && let Some(words) = begun.source.changed_since(Path::new(&begun.dir))
    {
        let file = screen::label(&begun.source.file);
        let next = "the run goes on as it was begun (`--updated` takes the file as it is now)";
        style::loud(&format!("! {file} {words} since: {next}"));
    }
    let options = ResumeOptions { from: args.from.clone(), updated: args.updated, by: RunBy::Command };
    carry_out(Prepared::again(&rejoin, begun.id, &options)?, args.output, args.plain)
}

fn carry_out(prepared: Prepared<'_>, output: Output, plain: bool) -> anyhow::Result<i32> {
    let stop = Stop::default();
    stop_on_signals(&stop)?;
    let printer = RunPrinter::new(output, &prepared.flow().name, prepared.id());
    let flow = prepared.flow().clone();
    let run = prepared.carry_out(&stop, &|notice| printer.show(notice));
    let run = run.inspect_err(|error| printer.broke_off(error))?;
    match output {
        Output::Text if printer.code() == exit::DONE => match run.last_to_speak(&flow) {
            Some(said) if tty::on_stdout() && !plain => {
                screen::print(step_output::rendered(said, &said.output, 0))?;
            }
            Some(said) => screen::data(&format!("{}\n", said.output))?,
            None => {}
        },
        Output::Json => screen::json(&run)?,
        Output::Text | Output::StreamJson => {}
    }
    Ok(printer.code())
}

fn dry_run(prepared: &Prepared<'_>, output: Output) -> anyhow::Result<i32> {
    /// Where the lines go on that do not fit: beside the names, if the terminal is wide, else below them.
    const BESIDE: usize = 22;
    const BELOW: usize = 4;
    const WIDE: usize = 60;
    let steps = prepared.planned_steps();
    if output != Output::Text {
        screen::sorted_json(&steps)?;
        return Ok(exit::DONE);
    }
    let indent = if width_for_a_person() >= WIDE { BESIDE } else { BELOW };
    let mut out = String::new();
    for step in &steps {
        out += &fitted(&format!("{:<20}  {}", screen::label(&step.step), screen::label(&step.does)), indent);
        for inner in step.at_once.iter().flatten() {
            out += &fitted(
                &format!("  {:<18}  {}", screen::label(&inner.step), screen::label(&inner.does)),
                indent,
            );
        }
    }
    screen::print(out)?;
    style::talk("nothing was run");
    Ok(exit::DONE)
}

/// Ctrl-C and the like stop the running steps; a second one ends them at once.
fn stop_on_signals(stop: &Stop) -> std::io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && crate::signals::is_ignored(signal) {
            continue;
        }
        signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
    }
    let stop = stop.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        // Our own end stays open, or the signals would find nobody.
        let _theirs = theirs;
        while ours.read(&mut [0]).is_ok_and(|count| count > 0) {
            stop.request();
        }
    })?;
    Ok(())
}

use clap::{Args, Subcommand};
use rejoin::{Config, Setting};

use crate::screen::label;
use crate::table::fitted;
use crate::{exit, screen, style};

#[derive(Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print where your configuration file is, or would be
    Path,
    /// Show the settings in force here, with the origin of each (as without a command)
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print one of them; exits with 4 if nothing says what it is
    Get {
        /// As `rejoin config show` names it
        key: String,
    },
    /// Change one of yours; the rest of the file stays as it is
    Set {
        /// As `rejoin config show` names it
        key: String,
        /// A text as it is, a number, or a TOML list
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

/// `rejoin config`
pub(crate) fn config(args: &ConfigArgs) -> anyhow::Result<i32> {
    match &args.command {
        None => show(false),
        Some(ConfigCommand::Show { json }) => show(*json),
        Some(ConfigCommand::Path) => {
            screen::print(format!("{}\n", label(&Config::path()?.display().to_string())))?;
            Ok(exit::DONE)
        }
        Some(ConfigCommand::Get { key }) => get(key),
        Some(ConfigCommand::Set { key, value }) => {
            Config::set(key, value)?;
            style::talk(&format!(
                "{key} is set in {}",
                style::home_path(&Config::path()?.display().to_string())
            ));
            Ok(exit::DONE)
        }
    }
}

fn show(json: bool) -> anyhow::Result<i32> {
    let all = Setting::all(&super::here()?)?;
    if json {
        screen::json(&all)?;
        return Ok(exit::DONE);
    }
    let lines: Vec<(String, String)> =
        all.iter().map(|one| (format!("{} = {}", label(&one.key), said(one)), origin(one))).collect();
    let widest = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or_default().min(50);
    let line = |(setting, origin): &(String, String)| fitted(&format!("{setting:<widest$}  # {origin}"), 4);
    screen::print(lines.iter().map(line).collect::<String>())?;
    Ok(exit::DONE)
}

/// A value as the file would have it.
fn said(setting: &Setting) -> String {
    if setting.value.is_null() {
        return "the first one installed".to_owned();
    }
    label(&setting.value.to_string())
}

fn origin(setting: &Setting) -> String {
    match &setting.place {
        Some(place) => label(&style::home_path(place)),
        None => setting.origin.name().to_owned(),
    }
}

fn get(key: &str) -> anyhow::Result<i32> {
    let all = Setting::all(&super::here()?)?;
    let Some(found) = all.iter().find(|one| one.key == key && !one.value.is_null()) else {
        let hint = rejoin::suggestion(key, all.into_iter().map(|one| one.key).filter(|known| known != key));
        style::talk(&format!("nothing sets {key:?}; `rejoin config` shows what is set{hint}"));
        return Ok(exit::NOT_FOUND);
    };
    let text = found.value.as_str().map_or_else(|| found.value.to_string(), str::to_owned);
    screen::data(&format!("{text}\n"))?;
    Ok(exit::DONE)
}

//! `rejoin token`: who may ask the daemon.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use rejoin_server::{Ceiling, MainToken, NamedToken, NamedTokens, TokenScope, WantedToken};

use crate::table::{Column, for_a_person, lay_out, width};
use crate::{exit, screen, style};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TokenArgs {
    /// Replace it: the old one, and every browser it let in, is out at once
    #[arg(long)]
    pub(crate) rotate: bool,
    #[command(subcommand)]
    pub(crate) command: Option<TokenCommand>,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token with a name and less than every right; its secret is printed once
    New(TokenNewArgs),
    /// List the tokens that have names
    Ls(TokenLsArgs),
    /// Take a token away; it is good for nothing from then on
    Revoke(TokenRevokeArgs),
}

#[derive(Args)]
pub(crate) struct TokenNewArgs {
    /// What it is called: phone, ci
    pub(crate) name: String,
    /// What it is good for: read, prompt, answer, admin (several: read,answer)
    #[arg(long, value_name = "SCOPE", required = true, value_delimiter = ',')]
    pub(crate) scope: Vec<TokenScope>,
    /// The widest level at which its turns may run: read, edit, full
    #[arg(long, value_name = "LEVEL")]
    pub(crate) ceiling: Option<Ceiling>,
    /// A project it sees, and no other (repeatable)
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Args)]
pub(crate) struct TokenLsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct TokenRevokeArgs {
    /// The name or the id of the token
    #[arg(value_name = "NAME|ID")]
    pub(crate) token: String,
}

/// `rejoin token`
pub(crate) fn token(args: &TokenArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    match &args.command {
        None => {
            rejoin.make_home()?;
            let main = MainToken::of(rejoin.home());
            let token = if args.rotate { main.rotate()? } else { main.read_or_make()? };
            screen::print(token + "\n")?;
        }
        Some(TokenCommand::New(args)) => {
            rejoin.make_home()?;
            new(&NamedTokens::of(rejoin.home()), args)?;
        }
        Some(TokenCommand::Ls(args)) => ls(&NamedTokens::of(rejoin.home()).list()?, args)?,
        Some(TokenCommand::Revoke(args)) => {
            if !rejoin.home().is_dir() {
                let text = format!("there is no token {:?}", args.token);
                return Err(rejoin::Error::from(rejoin::TurnError::NotFound(text)).into());
            }
            let gone = NamedTokens::of(rejoin.home()).revoke(&args.token)?;
            style::talk(&format!("{} ({}) is good for nothing any more", gone.name, gone.id));
        }
    }
    Ok(exit::DONE)
}

fn new(tokens: &NamedTokens, args: &TokenNewArgs) -> anyhow::Result<()> {
    let here = super::here()?;
    let projects: Vec<PathBuf> = args.project.iter().map(|project| here.join(project)).collect();
    let wanted = WantedToken {
        name: args.name.clone(),
        scopes: args.scope.clone(),
        ceiling: args.ceiling,
        projects: (!projects.is_empty()).then_some(projects),
    };
    let (token, secret) = tokens.create(&wanted, SystemTime::now())?;
    screen::print(secret + "\n")?;
    style::talk(&format!(
        "this is shown once; `rejoin token revoke {}` takes it away (id {})",
        token.name, token.id
    ));
    Ok(())
}

fn ls(tokens: &[NamedToken], args: &TokenLsArgs) -> anyhow::Result<()> {
    if args.json {
        return screen::sorted_json(&tokens);
    }
    if tokens.is_empty() {
        style::talk("no token has a name yet; `rejoin token new NAME --scope read` makes one");
    }
    let column = |title, cell: &dyn Fn(&NamedToken) -> String| Column {
        title,
        right: false,
        spare: 0,
        cells: tokens.iter().map(cell).collect(),
    };
    let scopes = |token: &NamedToken| {
        let names: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
        names.join(",")
    };
    let projects = |token: &NamedToken| {
        let projects = token.projects.iter().flatten();
        projects.map(|path| style::home_path(&path.to_string_lossy())).collect::<Vec<_>>().join(" ")
    };
    let columns = vec![
        column("name", &|token| token.name.clone()),
        column("scopes", &scopes),
        column("ceiling", &|token| token.ceiling.map(|ceiling| ceiling.to_string()).unwrap_or_default()),
        column("made", &|token| token.created.clone()),
        column("id", &|token| token.id.to_string()),
        column("projects", &projects),
    ];
    screen::print(lay_out(columns, "projects", width(), for_a_person() && !tokens.is_empty()))
}

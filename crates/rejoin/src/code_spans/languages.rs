//! The languages: one row each, and what is common to most in `CODE`.

/// How a language's lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Code,
    Tags,
    Diff,
    Markdown,
}

/// A text in quotes.
#[derive(Debug)]
pub(super) struct Quote {
    /// It begins and ends with this.
    pub(super) mark: &'static str,
    /// It goes on over lines.
    pub(super) lines: bool,
    /// A backslash takes the meaning of what follows.
    pub(super) escapes: bool,
}

/// All that is known about a language.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "a table of what languages have and have not")]
pub(super) struct Language {
    pub(super) shape: Shape,
    /// What fences call it.
    pub(super) names: &'static [&'static str],
    /// Its words, in order.
    pub(super) keywords: &'static [&'static str],
    /// Keywords in capitals are keywords.
    pub(super) ignores_case: bool,
    /// What begins a comment up to the end of the line.
    pub(super) line_comments: &'static [&'static str],
    /// A comment begins at the start of a word only: `a#b` has none.
    pub(super) comments_after_space: bool,
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// A comment can be within a comment.
    pub(super) comments_nest: bool,
    /// Longer ones first.
    pub(super) quotes: &'static [Quote],
    /// A quote right behind a letter begins a text; not so in `it's`.
    pub(super) quotes_after_words: bool,
    /// What stands behind a key.
    pub(super) key_mark: Option<u8>,
    /// … and a blank behind that.
    pub(super) key_blank: bool,
    /// What belongs to words besides letters, digits and `_`.
    pub(super) in_words: &'static [u8],
    pub(super) types: bool,
    pub(super) calls: bool,
    /// `'a`, `'x'`, `r#"…"#`, `name!`.
    pub(super) rust: bool,
    /// `/…/`, where no division can be.
    pub(super) regexes: bool,
    /// `$name`, `${…}`, `<<EOF`.
    pub(super) shell: bool,
    /// `@name`.
    pub(super) decorators: bool,
    /// `#include`.
    pub(super) directives: bool,
    /// `[table]` as a line.
    pub(super) tables: bool,
}

const fn quote(mark: &'static str) -> Quote {
    Quote { mark, lines: false, escapes: true }
}

const fn long_quote(mark: &'static str) -> Quote {
    Quote { mark, lines: true, escapes: true }
}

const fn literal(mark: &'static str, lines: bool) -> Quote {
    Quote { mark, lines, escapes: false }
}

/// A language like C, with nothing of its own.
const CODE: Language = Language {
    shape: Shape::Code,
    names: &[],
    keywords: &[],
    ignores_case: false,
    line_comments: &["//"],
    comments_after_space: false,
    block_comment: Some(("/*", "*/")),
    comments_nest: false,
    quotes: &[quote("\""), quote("'")],
    quotes_after_words: true,
    key_mark: None,
    key_blank: false,
    in_words: &[],
    types: false,
    calls: true,
    rust: false,
    regexes: false,
    shell: false,
    decorators: false,
    directives: false,
    tables: false,
};

/// Settings: keys and values, comments with `#`.
const SETTINGS: Language = Language {
    line_comments: &["#"],
    comments_after_space: true,
    block_comment: None,
    keywords: &["false", "inf", "nan", "no", "null", "off", "on", "true", "yes"],
    in_words: b"-.",
    calls: false,
    ..CODE
};

// A word per line would hide what the table is about.
#[rustfmt::skip]
pub(super) static LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        keywords: &[
            "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum",
            "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut",
            "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "type", "union",
            "unsafe", "use", "where", "while",
        ],
        comments_nest: true,
        quotes: &[long_quote("\"")],
        types: true,
        rust: true,
        ..CODE
    },
    Language {
        names: &["python", "py", "python3", "py3", "pycon", "pyi"],
        keywords: &[
            "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
            "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
            "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return",
            "self", "try", "while", "with", "yield",
        ],
        line_comments: &["#"],
        block_comment: None,
        quotes: &[long_quote("\"\"\""), long_quote("'''"), quote("\""), quote("'")],
        types: true,
        decorators: true,
        ..CODE
    },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "cjs", "node", "typescript", "ts", "tsx", "mts", "cts"],
        keywords: &[
            "abstract", "any", "as", "async", "await", "boolean", "break", "case", "catch", "class", "const",
            "continue", "debugger", "declare", "default", "delete", "do", "else", "enum", "export",
            "extends", "false", "finally", "for", "from", "function", "get", "if", "implements", "import",
            "in", "infer", "instanceof", "interface", "is", "keyof", "let", "namespace", "never", "new",
            "null", "number", "of", "private", "protected", "public", "readonly", "return", "satisfies",
            "set", "static", "string", "super", "switch", "this", "throw", "true", "try", "type", "typeof",
            "undefined", "unknown", "var", "void", "while", "with", "yield",
        ],
        quotes: &[quote("\""), quote("'"), long_quote("`")],
        types: true,
        regexes: true,
        decorators: true,
        in_words: b"$",
        ..CODE
    },
    Language {
        names: &["go", "golang"],
        keywords: &[
            "any", "bool", "break", "byte", "case", "chan", "const", "continue", "default", "defer", "else",
            "error", "fallthrough", "false", "float32", "float64", "for", "func", "go", "goto", "if",
            "import", "int", "int32", "int64", "interface", "iota", "map", "nil", "package", "range",
            "return", "rune", "select", "string", "struct", "switch", "true", "type", "uint", "uint32",
            "uint64", "uint8", "var",
        ],
        quotes: &[quote("\""), quote("'"), literal("`", true)],
        types: true,
        ..CODE
    },
    Language {
        names: &["c", "h", "c++", "cpp", "cc", "cxx", "hpp", "hh", "objc", "cuda", "csharp", "cs", "c#"],
        keywords: &[
            "NULL", "alignas", "alignof", "async", "auto", "await", "bool", "break", "case", "catch", "char",
            "class", "const", "constexpr", "continue", "default", "delete", "do", "double", "else", "enum",
            "explicit", "extern", "false", "float", "for", "foreach", "friend", "goto", "if", "inline",
            "int", "int32_t", "int64_t", "int8_t", "internal", "is", "long", "mutable", "namespace", "new",
            "noexcept", "null", "nullptr", "operator", "override", "private", "protected", "public",
            "readonly", "register", "restrict", "return", "sealed", "short", "signed", "size_t", "sizeof",
            "static", "string", "struct", "switch", "template", "this", "throw", "true", "try", "typedef",
            "typename", "uint32_t", "uint64_t", "uint8_t", "union", "unsigned", "using", "var", "virtual",
            "void", "volatile", "while",
        ],
        types: true,
        directives: true,
        ..CODE
    },
    Language {
        names: &["java", "kotlin", "kt", "kts", "scala", "groovy", "swift", "dart"],
        keywords: &[
            "abstract", "as", "assert", "boolean", "break", "byte", "case", "catch", "char", "class",
            "companion", "const", "continue", "data", "def", "default", "do", "double", "else", "enum",
            "extends", "extension", "false", "final", "finally", "float", "for", "fun", "func", "guard",
            "if", "implements", "import", "in", "init", "instanceof", "int", "interface", "internal", "is",
            "lazy", "let", "long", "match", "native", "new", "nil", "null", "object", "open", "override",
            "package", "permits", "private", "protected", "protocol", "public", "record", "return", "sealed",
            "self", "short", "static", "struct", "super", "switch", "synchronized", "this", "throw",
            "throws", "trait", "transient", "true", "try", "type", "val", "var", "void", "volatile", "when",
            "where", "while", "with", "yield",
        ],
        quotes: &[long_quote("\"\"\""), quote("\""), quote("'")],
        types: true,
        decorators: true,
        ..CODE
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "fish", "dockerfile", "docker", "makefile", "make"],
        keywords: SHELL,
        line_comments: &["#"],
        comments_after_space: true,
        block_comment: None,
        quotes: &[long_quote("\""), literal("'", true)],
        in_words: b"-./",
        calls: false,
        shell: true,
        ..CODE
    },
    // What a terminal showed: commands, and output in which a quote may stay open.
    Language {
        names: &["console", "shell-session", "terminal", "shellsession"],
        keywords: SHELL,
        line_comments: &["#"],
        comments_after_space: true,
        block_comment: None,
        quotes: &[quote("\""), literal("'", false)],
        quotes_after_words: false,
        in_words: b"-./",
        calls: false,
        ..CODE
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs", "lua", "perl", "pl", "r"],
        keywords: &[
            "alias", "and", "begin", "break", "case", "class", "def", "defmodule", "defp", "do", "else",
            "elseif", "elsif", "end", "ensure", "false", "fn", "for", "foreach", "function", "if", "in",
            "local", "module", "my", "next", "nil", "not", "or", "our", "package", "raise", "repeat",
            "require", "rescue", "return", "self", "sub", "super", "then", "true", "undef", "unless",
            "until", "use", "when", "while", "yield",
        ],
        line_comments: &["# ", "--"],
        block_comment: None,
        types: true,
        ..CODE
    },
    Language {
        names: &["php"],
        keywords: &[
            "abstract", "array", "as", "break", "case", "catch", "class", "const", "continue", "default",
            "do", "echo", "else", "elseif", "extends", "false", "final", "finally", "fn", "for", "foreach",
            "function", "if", "implements", "instanceof", "interface", "match", "namespace", "new", "null",
            "private", "protected", "public", "readonly", "require", "return", "static", "switch", "this",
            "throw", "trait", "true", "try", "use", "var", "while", "yield",
        ],
        line_comments: &["//", "# "],
        types: true,
        in_words: b"$",
        ..CODE
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson"],
        keywords: &["false", "null", "true"],
        key_mark: Some(b':'),
        calls: false,
        ..CODE
    },
    Language {
        names: &["yaml", "yml"],
        quotes_after_words: false,
        key_mark: Some(b':'),
        key_blank: true,
        in_words: b"-./",
        ..SETTINGS
    },
    Language {
        names: &["toml", "ini", "cfg", "conf", "properties", "dotenv", "env"],
        quotes: &[long_quote("\"\"\""), literal("'''", true), quote("\""), literal("'", false)],
        line_comments: &["#", ";"],
        key_mark: Some(b'='),
        tables: true,
        ..SETTINGS
    },
    Language {
        shape: Shape::Tags,
        names: &["html", "xml", "svg", "xhtml", "vue", "svelte", "htm", "plist"],
        ..CODE
    },
    Language {
        names: &["css", "scss", "less", "sass"],
        line_comments: &["// "],
        key_mark: Some(b':'),
        key_blank: true,
        in_words: b"-",
        decorators: true,
        ..CODE
    },
    Language {
        names: &["sql", "postgres", "postgresql", "mysql", "sqlite", "plpgsql"],
        keywords: &[
            "add", "all", "alter", "and", "as", "asc", "begin", "between", "by", "cascade", "case", "check",
            "column", "commit", "constraint", "create", "cross", "database", "default", "delete", "desc",
            "distinct", "drop", "else", "end", "exists", "explain", "false", "for", "foreign", "from",
            "full", "function", "group", "having", "if", "ilike", "in", "index", "inner", "insert",
            "integer", "into", "is", "join", "key", "left", "like", "limit", "not", "null", "offset", "on",
            "or", "order", "outer", "over", "partition", "pragma", "primary", "references", "replace",
            "returning", "right", "rollback", "select", "set", "table", "text", "then", "true", "truncate",
            "union", "unique", "update", "using", "values", "view", "when", "where", "with",
        ],
        ignores_case: true,
        line_comments: &["--"],
        quotes: &[literal("'", true), literal("\"", false)],
        ..CODE
    },
    Language { shape: Shape::Diff, names: &["diff", "patch", "udiff"], ..CODE },
    Language { shape: Shape::Markdown, names: &["markdown", "md", "mdx"], ..CODE },
];

#[rustfmt::skip]
const SHELL: &[&str] = &[
    "alias", "break", "case", "cd", "continue", "do", "done", "echo", "elif", "else", "esac", "eval", "exec",
    "exit", "export", "fi", "for", "function", "if", "in", "local", "printf", "read", "readonly", "return",
    "select", "set", "shift", "source", "sudo", "test", "then", "trap", "unset", "until", "while",
];

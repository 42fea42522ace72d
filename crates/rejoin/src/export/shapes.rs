//! What secrets look like.

/// Every shape, the most telling first. Where there are groups, only the one that was found is taken
/// out.
pub(super) const SHAPES: [(&str, &str); 20] = [
    (
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=\r\n]|\\+[nr])*)",
    ),
    ("api key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("aws key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("json web token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("address password", r"://[^/\s:@\x22\x27\\]*:([^/\s\x22\x27\\]+)@"),
    (
        "address key",
        r"(?i)[?&;][\w.-]*(?:token|key|secret|signature|sig|auth|password|passwd|pwd|credential)=([^&\s#\x22\x27<>\\)]+)",
    ),
    ("basic login", r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})"),
    ("bearer token", r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})"),
    (
        "login",
        r"(?i)\bauthorization[\x22\x27\\]*\s*[:=]\s*[\x22\x27\\]*(?:[a-z][a-z0-9-]*\s+)?([^\s\x22\x27\\,]{6,})|\bcurl\b[^\n|;]*\s(?:-u|--user)[ =]?[\x22\x27]?[^\s:\x22\x27]+:([^\s\x22\x27]+)",
    ),
    ("cookie", r"(?i)\b(?:set-)?cookie[\x22\x27\\]*\s*:\s*[\x22\x27\\]*([^\r\n\x22\x27\\]+)"),
    (
        "password",
        concat!(
            r"(?i)(?:\b[a-z0-9_-]*(?:api[_-]?key|access[_-]?key|token|secret|password|passwd|passphrase|_pwd)[\x22\x27\\]*\s*[:=]\s*",
            r"|--[a-z0-9-]*(?:key|token|secret|password|passwd|passphrase)\s+)",
            // In quotes of either kind, in quotes of a text within a text, or a run of six or more up to a
            // typographic quote.
            r"(?:\x22((?:[^\x22\\\n]|\\.)+)\x22|\x27((?:[^\x27\\\n]|\\.)+)\x27|\\+\x22((?:[^\x22\\\n]|\\[^\x22])+)\\+\x22|([^\s\x22\x27\\\[\xe2][^\s\xe2]{4,}[^\s\x22\x27\x60\\,;.)\]}\xe2]))",
        ),
    ),
    ("user name", r"(?:^|[^A-Za-z0-9_.~-])/home/([A-Za-z0-9_][A-Za-z0-9._-]*)"),
    (
        "user name",
        r"(?:^|[^A-Za-z0-9_.~-])/Users/(?:Shared\b|([A-Za-z0-9_][A-Za-z0-9._-]*))|\b[A-Za-z]:\\+Users\\+([^\\\s\x22\x27/]+)",
    ),
];

/// Names of fields whose values are secrets.
pub(super) const SECRET_KEY: &str = r"(?i)(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|password|passwd|passphrase|_pwd|cookie|authorization)$";

//! What secrets look like: facts about prefixes, alphabets and lengths, as those who issue them publish them
//! and secret scanners collect them.

/// One kind of secret.
pub(super) struct Shape {
    /// What it is called where it is taken out.
    pub(super) name: &'static str,
    /// A text without any of these words, in any case, has none: the expression is not even tried.
    pub(super) words: &'static [&'static str],
    /// It counts where a word begins (see [`super::boundary`]), so it says nothing of what stands before. Where
    /// there are groups, only the one that was found is taken out.
    pub(super) expression: &'static str,
    /// What it must be besides.
    pub(super) also: Also,
}

/// What a find must be besides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Also {
    /// Nothing.
    Any,
    /// Made by chance and not by a person: letters and digits, no id of the usual form.
    Random,
}

const fn shape(name: &'static str, words: &'static [&'static str], expression: &'static str) -> Shape {
    Shape { name, words, expression, also: Also::Any }
}

/// One whose form alone does not tell it from words.
const fn random(name: &'static str, words: &'static [&'static str], expression: &'static str) -> Shape {
    Shape { name, words, expression, also: Also::Random }
}

/// Every shape, the most telling first.
pub(super) const SHAPES: &[Shape] = &[
    shape(
        "private key",
        &["PRIVATE KEY"],
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=\r\n]|\\+[nr])*)|---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----.*?---- END SSH2 [A-Z ]*PRIVATE KEY ----",
    ),
    shape(
        "private key",
        &["PuTTY-User-Key-File"],
        r"Private-Lines: \d+(?:\r?\n|\\+n)((?:[A-Za-z0-9+/=]+(?:\r?\n|\\+n)?)+)",
    ),
    shape("private key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    shape("private key", &["xprv", "yprv", "zprv"], r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,}"),
    shape(
        "private key",
        &["client-key-data"],
        r"client-key-data[\x22\x27]?\s*:\s*[\x22\x27]?([A-Za-z0-9+/=]{20,})",
    ),
    // Models.
    random("api key", &["sk-"], r"sk-[A-Za-z0-9_-]{16,}"),
    random(
        "api key",
        &["gsk_", "xai-", "pplx-", "csk-", "nvapi-"],
        r"(?:gsk_|xai-|pplx-|csk-|nvapi-)[A-Za-z0-9_-]{20,}",
    ),
    random(
        "api key",
        &["r8_", "fw_", "lsv2_", "pa-"],
        r"(?:r8_[A-Za-z0-9]{30,}|fw_[A-Za-z0-9]{20,}|lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{8,}|pa-[A-Za-z0-9_-]{40,})",
    ),
    random("api key", &["sk_"], r"sk_(?:[a-f0-9]{40,}|[A-Za-z0-9]{29,})\b"),
    shape("hugging face token", &["hf_", "api_org_"], r"(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    // Where code lives, and packages.
    shape(
        "github token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    shape(
        "gitlab token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glcbt-",
            "glimt-",
            "glft-",
            "glsoat-",
            "gloas-",
            "glffct-",
            "glagent-",
            "glwt-",
            "GR1348941",
            "_gitlab_session",
        ],
        r"(gl(?:pat|dt|rt|rtr|ptt|cbt|imt|ft|soat|oas|ffct|agent|wt)-[A-Za-z0-9_.-]{16,}|GR1348941[A-Za-z0-9_-]{20,})|_gitlab_session=([0-9a-z]{32})",
    ),
    shape("bitbucket token", &["ATBB", "ATCTT3"], r"(?:ATBB[A-Za-z0-9]{24,}|ATCTT3[A-Za-z0-9_=-]{40,})"),
    shape("npm token", &["npm_"], r"npm_[A-Za-z0-9]{30,}"),
    shape(
        "package token",
        &["pypi-AgE", "rubygems_", "dckr_", "CLOJARS_", "AKCp", "cmVmd"],
        r"(?:pypi-AgE[A-Za-z0-9_-]{30,}|rubygems_[a-f0-9]{40,}|dckr_[a-z]{2,4}_[A-Za-z0-9_-]{20,}|CLOJARS_[A-Za-z0-9]{50,}|AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{50,})",
    ),
    random("package token", &["oy2", "cio"], r"(?:oy2[a-z0-9]{43}|cio[A-Za-z0-9]{32})\b"),
    random(
        "build token",
        &["bkua_", "CCIPAT_", "CCIPRJ_", "squ_", "sqp_", "sqa_", "sgp_", "pnu_", "pnb_"],
        r"(?:bkua_[a-f0-9]{40}|CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,}|sq[upa]_[a-f0-9]{40}|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}|pn[ub]_[A-Za-z0-9]{30,})",
    ),
    // Clouds.
    shape(
        "aws key",
        &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
        r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{16}\b",
    ),
    shape(
        "aws key",
        &["ABSK", "bedrock-api-key-"],
        r"(?:ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{40,})",
    ),
    shape(
        "google key",
        &["AIza", "GOCSPX-", "ya29.", "1//0"],
        r"(?:AIza[0-9A-Za-z_-]{35}|GOCSPX-[0-9A-Za-z_-]{20,}|ya29\.[0-9A-Za-z_-]{20,}|1//0[0-9A-Za-z_-]{30,})",
    ),
    random("azure key", &["Q~"], r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    shape(
        "azure key",
        &["AccountKey", "SharedAccessKey", "SharedSecretIssuer", "AccessKey="],
        r"(?i)(?:AccountKey|SharedAccessKey|AccessKey)=([A-Za-z0-9+/]{20,}={0,2})",
    ),
    random(
        "cloud key",
        &["LTAI", "AKID", "TSKEY-", "HRKU-", "dapi", "nfp_", "rnd_", "napi_"],
        r"(?:LTAI[A-Za-z0-9]{12,30}|AKID[A-Za-z0-9]{32}|tskey-[a-z]+-[A-Za-z0-9-]{16,}|HRKU-[A-Za-z0-9_-]{30,}|dapi[a-f0-9]{32}(?:-\d)?|nfp_[A-Za-z0-9]{30,}|rnd_[A-Za-z0-9]{20,}|napi_[a-z0-9]{40,})",
    ),
    shape(
        "cloud key",
        &["doo_v1_", "dop_v1_", "dor_v1_", "fo1_", "fm1a_", "fm1r_", "fm2_", "v1.0-", "tk-us-"],
        r"(?:do[opr]_v1_[a-f0-9]{40,}|fo1_[A-Za-z0-9_-]{40,}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}|v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|tk-us-[A-Za-z0-9_-]{40,})",
    ),
    random(
        "database key",
        &["sbp_", "sb_secret_", "pscale_"],
        r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}|pscale_[a-z]+_[A-Za-z0-9_.=-]{30,})",
    ),
    // Keepers of other secrets.
    random(
        "vault token",
        &["hvs.", "hvb.", "hvr.", "atlasv1", "dp.", "ops_eyJ", "A3-"],
        r"(?:hv[sbr]\.[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}|dp\.[a-z]{2,6}\.[A-Za-z0-9._-]{40,}|ops_eyJ[A-Za-z0-9+/]{100,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
    ),
    random(
        "vault token",
        &["vault", "infisical"],
        r"(?:s\.[A-Za-z0-9]{24}\b|st\.[a-f0-9]{20,}\.[a-f0-9]{32}\.[a-f0-9]{32})",
    ),
    shape(
        "infrastructure token",
        &["pul-", "sha256~", "NRAK-", "NRII-", "NRJS-", "NRRA-", "NRAL", "dt0"],
        r"(?:pul-[a-f0-9]{40}|sha256~[A-Za-z0-9_-]{43}|NR(?:AK|II|JS|RA)-[A-Za-z0-9-]{19,}|[a-f0-9]{32,36}NRAL\b|dt0[a-z]\d\d\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{60,})",
    ),
    random(
        "monitoring token",
        &["glc_", "glsa_", "eyJrIjoi", "sntrys_", "sntryu_"],
        r"(?:glc_[A-Za-z0-9+/]{32,}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9+/]{40,}={0,3}|sntrys_[A-Za-z0-9+/_=]{40,}|sntryu_[a-f0-9]{60,})",
    ),
    shape("monitoring token", &["sentry"], r"://([0-9a-f]{32})@[A-Za-z0-9.-]*sentry"),
    shape("tunnel token", &["ngrok", "authtoken"], r"2[A-Za-z0-9]{26}_[A-Za-z0-9]{20,}\b"),
    // People talking.
    shape(
        "slack token",
        &["xox", "xapp-"],
        r"(?:xox[a-z]-[A-Za-z0-9%-]{10,}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{40,}|xapp-\d-[A-Za-z0-9-]{20,})",
    ),
    shape(
        "webhook",
        &["hooks.slack.com", "/api/webhooks/", "webhook.office.com", "chat.googleapis.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})|discord(?:app)?\.com/api/webhooks/\d+/([A-Za-z0-9_-]{40,})|webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{40,})|chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?(\S{20,})",
    ),
    random(
        "discord token",
        &["discord", "bot"],
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b",
    ),
    shape("telegram token", &[":AA"], r"\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    shape("twilio key", &["SK"], r"SK[0-9a-f]{32}\b"),
    shape(
        "mail key",
        &["SG.", "key-", "-us", "xkeysib-", "xsmtpsib-"],
        r"(?:SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16})\b",
    ),
    // Money, and shops.
    shape(
        "stripe key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_"],
        r"(?:[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})",
    ),
    shape(
        "shop key",
        &["shpat_", "shpca_", "shppa_", "shpss_", "EAAA", "sq0"],
        r"(?:shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|EAAA[A-Za-z0-9_-]{56,64}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,60})\b",
    ),
    shape(
        "payment key",
        &[
            "access_token$",
            "access-sandbox-",
            "access-development-",
            "access-production-",
            "rzp_live_",
            "rzp_test_",
            "FLWSECK",
            "EZAK",
            "EZTK",
            "shippo_",
            "duffel_",
        ],
        r"(?:access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}|access-(?:sandbox|development|production)-[0-9a-f-]{36}|rzp_(?:live|test)_[A-Za-z0-9]{14,}|FLWSECK(?:_TEST)?-[A-Za-z0-9-]{12,}|EZ[AT]K[A-Za-z0-9]{54}|shippo_(?:live|test)_[A-Fa-f0-9]{40}|duffel_(?:test|live)_[A-Za-z0-9_=-]{40,})",
    ),
    random("payment key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?[a-f0-9]{31,35}\b"),
    // Other services.
    shape(
        "service token",
        &[
            "lin_api_",
            "lin_oauth_",
            "ntn_",
            "figd_",
            "ATATT3",
            "PMAK-",
            "rdme_",
            "tfp_",
            "CFPAT-",
            "pat-na",
            "pat-eu",
            "dnkey-",
            "p8e-",
            "fio-u-",
            "_mmk",
            "sm_aat_",
            "sm_pat_",
            "sm_sat_",
        ],
        r"(?:lin_(?:api|oauth)_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|figd_[A-Za-z0-9_-]{36,}|ATATT3[A-Za-z0-9_=-]{100,}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|rdme_[a-z0-9]{60,}|tfp_[A-Za-z0-9_.=-]{40,}|CFPAT-[A-Za-z0-9_-]{40,}|pat-(?:na|eu)\d-[0-9a-f-]{36}|dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}|p8e-[A-Za-z0-9]{32}|fio-u-[A-Za-z0-9_=-]{60,}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk|sm_[aps]at_[A-Za-z0-9]{16})",
    ),
    random(
        "service token",
        &["secret_", "pat", "api-", "sdk-", "mob-", "oauth:", "EAA", "API-"],
        r"(?:secret_[A-Za-z0-9]{40,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|(?:api|sdk|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|oauth:[a-z0-9]{30}|EAA[A-Za-z0-9]{80,}|API-[A-Z0-9]{26})\b",
    ),
    shape("service token", &["0/", "1/", "2/"], r"[0-2]/\d{16}(?:/\d{16})?:[0-9a-f]{32}"),
    random("service token", &["AAAAAAAAAAAAAAAAAAAA"], r"A{20,}[A-Za-z0-9%]{60,}"),
    shape(
        "json web token",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*",
    ),
    // Passwords as systems keep them.
    shape(
        "password hash",
        &["$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$argon2"],
        r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}|\$(?:[156]|apr1|y)\$[^\s$:]{1,30}\$(?:[./A-Za-z0-9]{1,30}\$)?[./A-Za-z0-9]{22,90}|\$argon2(?:id|i|d)\$v=\d+\$[^\s$]+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+",
    ),
    // Where addresses, headers and command lines have them.
    shape("address password", &["://"], r"://[^/\s:@\x22\x27\\]*:([^/\s\x22\x27\\]+)@"),
    // A token in the place of the user.
    random(
        "address password",
        &["://"],
        r"://([^/\s:@\x22\x27\\\[]{20,})(?::(?:\[redacted address password\])?)?@",
    ),
    shape(
        "address key",
        &[
            "token=",
            "key=",
            "secret=",
            "signature=",
            "sig=",
            "auth=",
            "password=",
            "passwd=",
            "pwd=",
            "credential=",
        ],
        r"(?i)[?&;][\w.-]*(?:token|key|secret|signature|sig|auth|password|passwd|pwd|credential)=([^&\s#\x22\x27<>\\)]+)",
    ),
    shape("basic login", &["basic"], r"(?i)basic\s+([A-Za-z0-9+/]{8,}={0,2})"),
    shape("bearer token", &["bearer"], r"(?i)bearer\s+([A-Za-z0-9._~+/=-]{16,})"),
    shape(
        "login",
        &["authorization", "curl"],
        r"(?i)authorization[\x22\x27\\]*\s*[:=]\s*[\x22\x27\\]*(?:[a-z][a-z0-9-]*\s+)?([^\s\x22\x27\\,]{6,})|curl\b[^\n|;]*\s(?:-u|--user)[ =]?[\x22\x27]?[^\s:\x22\x27]+:([^\s\x22\x27]+)",
    ),
    shape(
        "login",
        &["machine", "mysql", "sshpass", "docker login", "\"auth\"", "_auth"],
        r"(?i)machine\s+\S+\s+login\s+\S+\s+password\s+([^\s\x22\x27\x60\\]+)|mysql(?:dump|admin)?\b[^\n|;]*\s-p([^\s\x22\x27\x60\\-][^\s\x22\x27\x60\\]*)|sshpass\s+-p\s*[\x22\x27]?([^\s\x22\x27\x60\\]+)|docker\s+login\b[^\n|;]*\s-p\s+([^\s\x22\x27\x60\\]+)|[\x22]auth[\x22]\s*:\s*[\x22]([A-Za-z0-9+/]{8,}={0,2})[\x22]|_auth\s*=\s*[\x22\x27]?([A-Za-z0-9+/]{8,}={0,2})",
    ),
    shape("cookie", &["cookie"], r"(?i)(?:set-)?cookie[\x22\x27\\]*\s*:\s*[\x22\x27\\]*([^\r\n\x22\x27\\]+)"),
    shape(
        "password",
        &["key", "token", "secret", "password", "passwd", "passphrase", "_pwd"],
        concat!(
            r"(?i)(?:[a-z0-9_-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|password|passwd|passphrase|_pwd)[\x22\x27\\]*\s*(?:[:=]|=>|:=)\s*",
            r"|--[a-z0-9-]*(?:key|token|secret|password|passwd|passphrase)\s+)",
            // In quotes of either kind, in quotes of a text within a text, or a run of six or more up to a
            // typographic quote.
            r"(?:\x22((?:[^\x22\\\n]|\\.)+)\x22|\x27((?:[^\x27\\\n]|\\.)+)\x27|\\+\x22((?:[^\x22\\\n]|\\[^\x22])+)\\+\x22|([^\s\x22\x27\\\[\xe2][^\s\xe2]{4,}[^\s\x22\x27\x60\\,;.)\]}\xe2]))",
        ),
    ),
    // Names that tell less, of values that tell more.
    random(
        "password",
        &["pwd", "pass", "auth", "cred", "key"],
        r"(?i)[a-z0-9_.-]*(?:pwd|pass|pass[_-]?code|auth|credentials?|creds|(?:account|auth|client|consumer|deploy|encryption|license|master|security|service|session|shared|signing|ssh|storage|subscription|webhook)[_-]?key|[_-]key)[\x22\x27\\]*\s*(?:[:=]|=>|:=)\s*[\x22\x27\\\x60]*([A-Za-z0-9_+/=.~!@#$%^&*-]{8,})",
    ),
    // Names in which the telling word is not the last one: `SECRET_KEY_BASE`.
    random(
        "password",
        &["key", "token", "secret", "password", "passwd", "passphrase"],
        r"(?i)[a-z0-9_.-]*(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|password|passwd|passphrase)[_-][a-z0-9_.-]{0,24}[\x22\x27\\]*\s*(?:[:=]|=>|:=)\s*[\x22\x27\\\x60]*([A-Za-z0-9_+/=.~!@#$%^&*-]{16,})",
    ),
    // A service's name, and behind it something that was made by chance.
    random(
        "service key",
        &[
            "adafruit",
            "adobe",
            "airtable",
            "alchemy",
            "algolia",
            "alibaba",
            "amplitude",
            "asana",
            "atlassian",
            "aws_",
            "beamer",
            "bitbucket",
            "bittrex",
            "cloudflare",
            "codecov",
            "cohere",
            "coinbase",
            "confluent",
            "confluence",
            "contentful",
            "datadog",
            "deepgram",
            "deepseek",
            "discord",
            "droneci",
            "dropbox",
            "elastic",
            "etherscan",
            "etsy",
            "facebook",
            "fastly",
            "finicity",
            "finnhub",
            "firebase",
            "flickr",
            "freshbooks",
            "gitter",
            "heroku",
            "hubspot",
            "infura",
            "intercom",
            "jira",
            "kraken",
            "kucoin",
            "launchdarkly",
            "linear",
            "linkedin",
            "mailchimp",
            "mailgun",
            "mapbox",
            "mattermost",
            "meraki",
            "messagebird",
            "mistral",
            "mixpanel",
            "netlify",
            "new_relic",
            "newrelic",
            "nytimes",
            "okta",
            "opsgenie",
            "pagerduty",
            "pinecone",
            "plaid",
            "posthog",
            "postmark",
            "rapidapi",
            "rollbar",
            "segment",
            "sendbird",
            "sendgrid",
            "sentry",
            "snowflake",
            "snyk",
            "sonar",
            "splunk",
            "squarespace",
            "sumo",
            "tavily",
            "telegram",
            "trello",
            "travis",
            "twilio",
            "twitch",
            "twitter",
            "typeform",
            "vercel",
            "yandex",
            "zendesk",
        ],
        r"(?i)[a-z0-9_.-]*(?:adafruit|adobe|airtable|alchemy|algolia|alibaba|amplitude|asana|atlassian|aws_|beamer|bitbucket|bittrex|cloudflare|codecov|cohere|coinbase|confluent|confluence|contentful|datadog|deepgram|deepseek|discord|droneci|dropbox|elastic|etherscan|etsy|facebook|fastly|finicity|finnhub|firebase|flickr|freshbooks|gitter|heroku|hubspot|infura|intercom|jira|kraken|kucoin|launchdarkly|linear|linkedin|mailchimp|mailgun|mapbox|mattermost|meraki|messagebird|mistral|mixpanel|netlify|new_?relic|nytimes|okta|opsgenie|pagerduty|pinecone|plaid|posthog|postmark|rapidapi|rollbar|segment|sendbird|sendgrid|sentry|snowflake|snyk|sonar|splunk|squarespace|sumo|tavily|telegram|trello|travis|twilio|twitch|twitter|typeform|vercel|yandex|zendesk)[a-z0-9_.-]{0,24}[\x22\x27\\]*\s*(?:[:=]|=>|:=)\s*[\x22\x27\\\x60]*([A-Za-z0-9_+/=.:~-]{14,})",
    ),
    shape("user name", &["/home/"], r"/home/([A-Za-z0-9_][A-Za-z0-9._-]*)"),
    shape(
        "user name",
        &["Users"],
        r"/Users/(?:Shared\b|([A-Za-z0-9_][A-Za-z0-9._-]*))|[A-Za-z]:\\+Users\\+([^\\\s\x22\x27/]+)",
    ),
];

/// Names that end like those of secrets, of things that may well look random.
pub(super) const HARMLESS: &[&str] = &[
    "cache_key",
    "cache-key",
    "cachekey",
    "primary_key",
    "foreign_key",
    "public_key",
    "public-key",
    "publickey",
    "pubkey",
    "sort_key",
    "partition_key",
    "idempotency",
    "object_key",
    "s3_key",
    "row_key",
    "key_id",
    "key-id",
    "secret_name",
    "secret-name",
    "token_type",
    "etag",
    "author",
];

/// Names of fields whose values are secrets.
pub(super) const SECRET_KEY: &str = r"(?i)(?:(?:api|access|private|account|auth|client|consumer|deploy|encryption|license|master|session|shared|signing|storage|subscription)[_-]?key|token|secret|password|passwd|passphrase|passcode|pwd|credentials?|cookie|authorization|connection[_-]?string|key-data)$|^_?auth$";

/// Whether something was made by chance: it has letters and digits, is not an id or a hash as git and others
/// show them, not a version, a date or a path, and hardly a word with a number.
pub(super) fn is_random(secret: &[u8]) -> bool {
    let digits = secret.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = secret.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if digits == 0 || letters == 0 || is_id(secret) || secret.starts_with(b"/") || secret.starts_with(b"./") {
        return false;
    }
    let mut kinds = [false; 256];
    for byte in secret {
        kinds[usize::from(*byte)] = true;
    }
    let different = kinds.iter().filter(|kind| **kind).count();
    // A word, or words with dashes, with a number at the end.
    let changes =
        secret.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    different >= 6 && changes >= 2
}

/// `550e8400-e29b-41d4-a716-446655440000`
fn is_id(secret: &[u8]) -> bool {
    secret.len() == 36
        && secret.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests;

use super::*;
use crate::export::Redactor;

/// So many characters of an alphabet, as if by chance.
fn made(alphabet: &str, count: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ count as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[(state % alphabet.len() as u64) as usize]
    };
    (0..count).map(|_| next()).collect()
}

const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

fn any(count: usize) -> String {
    made(LETTERS, count)
}

fn hex(count: usize) -> String {
    made("0123456789abcdef", count)
}

fn upper(count: usize) -> String {
    made("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count)
}

fn base64(count: usize) -> String {
    made(&format!("{LETTERS}+/"), count)
}

fn id() -> String {
    "7d9f3c1a-52b8-4e06-9a1d-c3f0b8e5d214".into()
}

/// Secrets as they stand in texts, none of them real: what stands before, the secret, what stands after.
#[allow(clippy::too_many_lines, reason = "a table")]
fn examples() -> Vec<(&'static str, String, &'static str)> {
    let bare = [
        format!("sk-proj-{}T3BlbkFJ{}", any(58), any(58)),
        format!("sk-{}T3BlbkFJ{}", any(20), any(20)),
        format!("sk-svcacct-{}T3BlbkFJ{}", any(74), any(74)),
        format!("sk-ant-api03-{}AA", any(93)),
        format!("sk-ant-admin01-{}AA", any(93)),
        format!("sk-ant-oat01-{}AA", any(93)),
        format!("sk-or-v1-{}", hex(64)),
        format!("sk-lf-{}", id()),
        format!("gsk_{}", any(52)),
        format!("xai-{}", any(80)),
        format!("pplx-{}", any(48)),
        format!("csk-{}", any(48)),
        format!("nvapi-{}", any(64)),
        format!("r8_{}", any(37)),
        format!("fw_{}", any(24)),
        format!("lsv2_pt_{}_{}", hex(32), hex(10)),
        format!("pa-{}", any(43)),
        format!("sk_{}", hex(48)),
        format!("hf_{}", made("abcdefghijklmnopqrstuvwxyz", 34)),
        format!("api_org_{}", made("abcdefghijklmnopqrstuvwxyz", 34)),
        format!("ghp_{}", any(36)),
        format!("gho_{}", any(36)),
        format!("ghu_{}", any(36)),
        format!("ghs_{}", any(36)),
        format!("ghr_{}", any(36)),
        format!("github_pat_{}_{}", any(22), any(59)),
        format!("glpat-{}", any(20)),
        format!("gldt-{}", any(20)),
        format!("glrt-{}", any(20)),
        format!("glptt-{}", hex(40)),
        format!("glcbt-{}_{}", hex(5), any(20)),
        format!("glimt-{}", any(25)),
        format!("glft-{}", any(20)),
        format!("glsoat-{}", any(20)),
        format!("gloas-{}", hex(64)),
        format!("glagent-{}", any(50)),
        format!("GR1348941{}", any(20)),
        format!("ATBB{}", any(32)),
        format!("ATCTT3{}", any(180)),
        format!("npm_{}", any(36)),
        format!("pypi-AgEIcHlwaS5vcmc{}", any(120)),
        format!("rubygems_{}", hex(48)),
        format!("dckr_pat_{}", any(27)),
        format!("CLOJARS_{}", made("abcdefghijklmnopqrstuvwxyz0123456789", 60)),
        format!("AKCp{}", any(69)),
        format!("cmVmd{}", any(59)),
        format!("oy2{}", made("abcdefghijklmnopqrstuvwxyz0123456789", 43)),
        format!("cio{}", any(32)),
        format!("bkua_{}", hex(40)),
        format!("CCIPAT_{}_{}", any(22), hex(40)),
        format!("squ_{}", hex(40)),
        format!("sgp_{}_{}", hex(16), hex(40)),
        format!("pnu_{}", any(36)),
        format!("AKIA{}", upper(16)),
        format!("ASIA{}", upper(16)),
        format!("ABIA{}", upper(16)),
        format!("ACCA{}", upper(16)),
        format!("ABSK{}=", base64(130)),
        format!("AIza{}", any(35)),
        format!("GOCSPX-{}", any(28)),
        format!("ya29.{}", any(120)),
        format!("1//0{}", any(40)),
        format!("{}8Q~{}", any(3), any(34)),
        format!("LTAI{}", any(20)),
        format!("AKID{}", any(32)),
        format!("tskey-auth-{}-{}", any(17), any(32)),
        format!("HRKU-{}", any(60)),
        format!("dapi{}", hex(32)),
        format!("nfp_{}", any(36)),
        format!("rnd_{}", any(28)),
        format!("napi_{}", made("abcdefghijklmnopqrstuvwxyz0123456789", 64)),
        format!("dop_v1_{}", hex(64)),
        format!("doo_v1_{}", hex(64)),
        format!("dor_v1_{}", hex(64)),
        format!("fo1_{}", any(43)),
        format!("fm2_{}", base64(140)),
        format!("v1.0-{}-{}", hex(24), hex(146)),
        format!("tk-us-{}", any(48)),
        format!("sbp_{}", hex(40)),
        format!("sb_secret_{}_{}", any(22), any(8)),
        format!("pscale_tkn_{}", any(43)),
        format!("pscale_pw_{}", any(43)),
        format!("hvs.{}", any(95)),
        format!("hvb.{}", any(140)),
        format!("{}.atlasv1.{}", any(14), any(67)),
        format!("dp.pt.{}", any(43)),
        format!("dp.st.dev.{}", any(43)),
        format!("ops_eyJ{}", base64(260)),
        format!("A3-{}-{}-{}-{}-{}", upper(6), upper(11), upper(5), upper(5), upper(5)),
        format!("pul-{}", hex(40)),
        format!("sha256~{}", any(43)),
        format!("NRAK-{}", upper(27)),
        format!("NRII-{}", any(32)),
        format!("dt0c01.{}.{}", upper(24), upper(64)),
        format!("glc_{}", base64(60)),
        format!("glsa_{}_{}", any(32), hex(8)),
        format!("eyJrIjoi{}", any(80)),
        format!("sntrys_eyJpYXQiO{}_{}", base64(80), base64(43)),
        format!("sntryu_{}", hex(64)),
        format!("xoxb-{}-{}-{}", "2384719283", "2384719283746", any(24)),
        format!("xoxp-{0}-{0}-{0}-{1}", "2384719283", hex(32)),
        format!("xoxe.xoxp-1-{}", any(163)),
        format!("xapp-1-A{}-{}-{}", upper(9), "2384719283746", hex(64)),
        format!("xoxc-{0}-{0}-{1}", "2384719283", hex(64)),
        format!("123456789:AA{}", any(33)),
        format!("SK{}", hex(32)),
        format!("SG.{}.{}", any(22), any(43)),
        format!("key-{}", hex(32)),
        format!("{}-us14", hex(32)),
        format!("xkeysib-{}-{}", hex(64), any(16)),
        format!("sk_live_{}", any(24)),
        format!("rk_test_{}", any(24)),
        format!("whsec_{}", any(32)),
        format!("shpat_{}", hex(32)),
        format!("shpss_{}", hex(32)),
        format!("EAAA{}", any(60)),
        format!("sq0atp-{}", any(22)),
        format!("sq0csp-{}", any(43)),
        format!("access_token$production${}${}", hex(16), hex(32)),
        format!("access-production-{}", id()),
        format!("rzp_live_{}", any(14)),
        format!("FLWSECK_TEST-{}-X", hex(32)),
        format!("EZAK{}", any(54)),
        format!("shippo_live_{}", hex(40)),
        format!("duffel_live_{}", any(43)),
        format!("live_{}", hex(35)),
        format!("lin_api_{}", any(40)),
        format!("ntn_12345678901{}", any(35)),
        format!("secret_{}", any(43)),
        format!("figd_{}", any(40)),
        format!("ATATT3{}", any(186)),
        format!("PMAK-{}-{}", hex(24), hex(34)),
        format!("rdme_{}", made("abcdefghijklmnopqrstuvwxyz0123456789", 70)),
        format!("tfp_{}", any(59)),
        format!("CFPAT-{}", any(43)),
        format!("pat-eu1-{}", id()),
        format!("pat{}.{}", any(14), hex(64)),
        format!("sdk-{}", id()),
        format!("EAAC{}", any(160)),
        format!("API-{}", upper(26)),
        format!("{}_{}_mmk", any(6), any(29)),
        format!("{}{}", "A".repeat(22), any(90)),
        format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", any(60), any(43)),
        format!("AGE-SECRET-KEY-1{}", upper(58)),
        format!("xprv{}", made("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107)),
        format!("$2b$12${}", any(53)),
        format!("$6$saltsalt${}", any(86)),
        format!("$argon2id$v=19$m=65536,t=3,p=4${}${}", any(22), any(43)),
    ];
    let mut examples: Vec<_> = bare.into_iter().map(|secret| ("", secret, "")).collect();
    examples.extend([
        ("https://hooks.slack.com/services/", format!("T{}/B{}/{}", upper(8), upper(8), any(24)), " posts"),
        ("https://discord.com/api/webhooks/1234567890/", any(68), " posts"),
        (
            "https://acme.webhook.office.com/webhookb2/",
            format!("{0}@{0}/IncomingWebhook/{1}/{0}", id(), hex(32)),
            " posts",
        ),
        ("DISCORD bot ", format!("MTA{}.{}.{}", any(23), any(6), any(38)), " runs"),
        ("ngrok config add-authtoken ", format!("2{}_{}", any(26), any(21)), ""),
        ("AccountName=x;AccountKey=", format!("{}==", base64(86)), ";EndpointSuffix=y"),
        ("SharedAccessKeyName=x;SharedAccessKey=", format!("{}=", base64(43)), ""),
        ("https://x.blob.core.windows.net/c?sv=2024&sig=", format!("{}%3D", any(43)), "&se=1"),
        ("https://", hex(32), "@o123.ingest.sentry.io/1"),
        ("vault login ", format!("s.{}", any(24)), ""),
        ("_gitlab_session=", hex(32), "; path=/"),
        ("aws_secret_access_key = ", base64(40), ""),
        ("export AWS_SESSION_TOKEN=", base64(300), ""),
        ("DATADOG_APP=", hex(40), ""),
        ("ALGOLIA_ADMIN: \"", hex(32), "\""),
        ("cloudflare_global: '", hex(37), "'"),
        ("COHERE: ", any(40), ""),
        ("OKTA_API=00", any(40), ""),
        ("TRAVIS_CI=", any(22), ""),
        ("MAPBOX=pk.", format!("{}.{}", any(60), any(22)), ""),
        ("Ocp-Apim-Subscription-Key: ", hex(32), ""),
        ("x-functions-key: ", any(54), ""),
        ("Pwd=", "zork99hunter".into(), ";Server=x"),
        ("ENCRYPTION_KEY=", base64(43), ""),
        ("machine example.org login ann password ", "zork99".into(), ""),
        ("mysql -u root -p", "zork99".into(), " db"),
        ("sshpass -p ", "zork99".into(), " ssh host"),
        ("\"auths\": {\"registry\": {\"auth\": \"", "dXNlcjp6b3JrOTk=".into(), "\"}}"),
        ("PrivateKey = ", format!("{}=", base64(43)), ""),
        ("    client-key-data: ", base64(400), ""),
        ("'consumer_key' => '", any(25), "'"),
        ("https://", hex(40), "@github.com/a/b.git"),
        ("https://", hex(40), ":x-oauth-basic@github.com/a/b.git"),
        ("SECRET_KEY_BASE=", hex(64), ""),
        ("DEPLOY_TOKEN_VALUE: ", any(24), ""),
        ("PASSWORD_HASH=", base64(44), ""),
        ("", format!("1/1204567890123456:{}", hex(32)), ""),
        ("", format!("2/1204567890123456/1207654321098765:{}", hex(32)), ""),
    ]);
    examples
}

/// What can stand right before a secret, and behind it.
const CONTEXTS: &[(&str, &str)] = &[
    ("run it with ", " please"),
    ("{\"a\": \"", "\"}"),
    ("(`", "`)"),
    ("+", "\n"),
    ("é", "\u{200b}"),
    ("&quot;", "&quot;"),
    // As they stand in JSON, and in JSON within JSON.
    (r#"{"log":"line\n"#, r#"\nmore"}"#),
    (r#"{"log":"a\t"#, r#"\t"}"#),
    (r#"{\"log\":\"line\\n"#, r#"\\n\"}"#),
    (r#"{"html":"\u003cb\u003e"#, r#"\u003c/b\u003e"}"#),
    // In colours.
    ("\x1b[32m", "\x1b[0m"),
    ("\x1b[m\x1b[K", "\x1b[m"),
    ("␛[1;31m", "␛[0m"),
    (r#"{"o":"\u001b[32m"#, r#"\u001b[0m"}"#),
    (r"\033[0;32m", r"\033[0m"),
    // In addresses, and behind a name.
    ("x%3D", " "),
    ("x%253D", " "),
    ("%22", " "),
    ("TOKEN_", ""),
    ("my_token_", ""),
];

#[test]
fn every_shape_is_found_in_every_context() {
    let examples = examples();
    assert!(examples.len() >= 150, "{}", examples.len());
    let mut missed = Vec::new();
    let mut redactor = Redactor::new(None);
    for (before, secret, after) in &examples {
        for (at, (open, close)) in CONTEXTS.iter().enumerate() {
            let text = format!("{open}{before}{secret}{after}{close}");
            let out = redactor.text(&text);
            // No longer piece of it is left, either.
            let left = secret
                .as_bytes()
                .windows(12.min(secret.len()))
                .any(|part| out.as_bytes().windows(part.len()).any(|other| other == part));
            // Where an escape ends a value that may be anything, more than the value may go.
            let ends = at > 2 || out.ends_with(close);
            if left || !out.contains("[redacted ") || !ends {
                missed.push(format!("{text}\n    became {out}"));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn every_shape_is_an_expression_and_has_words() {
    let words: Vec<_> =
        SHAPES.iter().filter(|shape| shape.words.is_empty()).map(|shape| shape.name).collect();
    assert_eq!(words, [""; 0], "without words nothing is found");
    for shape in SHAPES {
        let expression = regex::bytes::Regex::new(&format!("(?s-u){}", shape.expression));
        assert!(expression.is_ok_and(|expression| !expression.is_match(b"")), "{}", shape.name);
    }
}

#[test]
fn a_secret_that_begins_inside_of_what_is_none_is_found() {
    let key = format!("sk-proj-{}", any(48));
    let text = format!("task-list-with-{key}");
    assert_eq!(Redactor::new(None).text(&text), "task-list-with-[redacted api key]");
}

#[test]
fn what_is_made_to_be_slow_is_not() {
    let mut redactor = Redactor::new(None);
    for piece in ["xpa-", "A", "xsk-", "9", "eyJ"] {
        redactor.text(&piece.repeat(50_000 / piece.len()));
    }
}

#[test]
fn hashes_ids_images_and_prose_stay() {
    let image = format!("data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{}==", base64(60_000));
    let hash = hex(40);
    let other = hex(64);
    let mut redactor = Redactor::new(None);
    for text in [
        format!("commit {hash}\nAuthor: Ann\nindex 83db48f..bf2a9c1 100644"),
        format!("sha256:{other}  file.tar.gz"),
        format!("cache_key: {hash}, etag=\"{hash}\", public_key={}", any(43)),
        format!("conversation {} was resumed, session {}", id(), id()),
        format!("\"integrity\": \"sha512-{}==\"", base64(86)),
        image,
        "the token bucket, a password manager, sk-8, task-list, sk-learn-contrib-projects, secret: yes".into(),
        "pass: 12 tests, auth: none, author: ann, compass=north, key: value, monkey: see, api: v2".into(),
        "let key = map.get(&index); let pass = passes.iter().map(|pass| pass + 1);".into(),
        "sentry: it reports errors; linear = fast; segment: 12..40; travis: green; jira: PROJ-1234".into(),
        "https://host/home/page, http://a:80/b?monk=1, /Users/Shared/x, 12:30:45, v1.0-rc1, 2024-01-02T03:04:05Z".into(),
        "src/export/shapes.rs:120:45 s.some_method_of_an_object_with_a_long_name() live_reload_of_pages".into(),
        "task-2024-11-17-fix-3-bugs-in-v2, disk-0a1b2c3d4e5f6a7b, [ask-1a2b3c-4d5e6f-7a8b9c], risk-1-of-2-and-3-of-4".into(),
        "C:\\task-2024-11-17-fix-3-bugs-in-v2 %task-2024-11-17-fix-3-bugs [2task-2024-11-17-fix-3-bugs".into(),
        format!("data:image/bmp;base64,Qk{}{}", "A".repeat(100_000), any(200)),
        format!("xAKIA{} yAIza{} MD5SK{}", upper(16), any(35), hex(32)),
        "token_count: 12345, max_tokens_to_sample = 4096, tokenizer_model=llama3-8b-q4-k-m-gguf2, token_type: Bearer".into(),
        "secret_name: prod-db-1a2b3c4d5e6f, password_file=/run/secrets/db1/pw2, api_key_id=0a1b2c3d4e5f6a7b8c".into(),
        "ssh://git@example.org/a.git https://ann@example.org:8080/x file://localhost/x npm://left-pad@1.3.0".into(),
        "7/10 tests, 1/2 of 3: abc, src/1/2:3, 100%de, a%20b%2Fc, \\n\\t, \x1b[32mok\x1b[0m 1\x1b[1m2".into(),
        "Nobody.should.be.taken.for.a.token, MODULE_NAME_WITH_WORDS.second.THIRD_PART_OF_THE_MODULE_NAME".into(),
    ] {
        assert_eq!(redactor.text(&text), text);
    }
}

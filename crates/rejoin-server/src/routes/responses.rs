//! What the document says of every response, said in one place: no route can forget it.

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response, ResponseBuilder};

const PROBLEM: &str = "application/problem+json";

/// Gives every operation a problem for all statuses that it does not name, every problem its type, and every response
/// the description without which generators refuse the document.
pub(super) fn complete(document: &mut OpenApi) {
    for operation in document.paths.paths.values_mut().flat_map(operations) {
        let summary = operation.summary.clone().unwrap_or_default();
        let responses = &mut operation.responses.responses;
        responses.entry("default".to_owned()).or_insert_with(|| RefOr::T(problem()));
        for response in responses.values_mut() {
            if let RefOr::T(response) = response {
                name_the_type(response);
                describe(response, &summary);
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
    all.into_iter().flatten()
}

fn problem() -> Response {
    let body = Content::new(Some(Ref::from_schema_name("ProblemBody")));
    ResponseBuilder::new().content(PROBLEM, body).build()
}

/// A response that says nothing of itself is what its operation is for, or a problem.
fn describe(response: &mut Response, summary: &str) {
    if response.description.is_empty() {
        let is_problem = response.content.contains_key(PROBLEM);
        let words = if is_problem { "What went wrong, and what to do" } else { summary };
        words.clone_into(&mut response.description);
    }
}

/// A body that is a problem is never plain JSON.
fn name_the_type(response: &mut Response) {
    let is_problem = |body: &RefOr<Content>| {
        matches!(body, RefOr::T(Content { schema: Some(RefOr::Ref(named)), .. })
            if named.ref_location.ends_with("/ProblemBody"))
    };
    if let Some(body) = response.content.shift_remove("application/json") {
        let kind = if is_problem(&body) { PROBLEM } else { "application/json" };
        response.content.insert(kind.to_owned(), body);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn every_route_has_a_name_of_its_own_and_declares_its_problems_as_what_they_are() {
        let document: Value = serde_json::from_str(&crate::routes::openapi()).unwrap();
        assert!(document["components"]["schemas"]["ProblemBody"].is_object());
        let mut names = std::collections::BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let responses = &operation["responses"];
                assert!(responses["default"]["content"].get(super::PROBLEM).is_some(), "{method} {path}");
                for (status, response) in responses.as_object().unwrap() {
                    assert!(
                        response["description"].as_str().is_some_and(|words| !words.is_empty()),
                        "{path}"
                    );
                    let plain = response["content"]["application/json"].to_string();
                    assert!(!plain.contains("ProblemBody"), "{method} {path} {status}");
                }
                let name = operation["operationId"].as_str().unwrap().to_owned();
                assert!(names.insert(name), "another operation is called as {method} {path}");
            }
        }
        assert!(names.len() > 40, "{names:?}");
    }

    /// A part of a message that another version wrote; plan and receipt of a run, for the reason that stands there.
    const ANYTHING: &[&str] = &["Part.anyOf", "ShownRun.properties.plan", "ShownRun.properties.receipt"];

    /// Clients are generated from the document: what has no type in it has none in them.
    #[test]
    fn the_parameters_of_a_path_are_those_between_its_braces() {
        let document: Value = serde_json::from_str(&crate::routes::openapi()).unwrap();
        for (path, operations) in document["paths"].as_object().unwrap() {
            let braces = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
            let wanted: std::collections::BTreeSet<&str> = braces.collect();
            for (method, operation) in operations.as_object().unwrap() {
                let all = operation["parameters"].as_array().into_iter().flatten();
                let of_path = all.filter(|one| one["in"] == "path").filter_map(|one| one["name"].as_str());
                assert_eq!(of_path.collect::<std::collections::BTreeSet<_>>(), wanted, "{method} {path}");
            }
        }
    }

    #[test]
    fn everything_in_the_document_has_a_type() {
        let document: Value = serde_json::from_str(&crate::routes::openapi()).unwrap();
        let mut untyped = Vec::new();
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            find_untyped(name, schema, &mut untyped);
        }
        for (path, item) in document["paths"].as_object().unwrap() {
            find_untyped(path, item, &mut untyped);
        }
        assert_eq!(untyped, ANYTHING);
    }

    fn find_untyped(at: &str, schema: &Value, untyped: &mut Vec<String>) {
        match schema {
            Value::Object(members) => {
                let says = |name: &str| members.contains_key(name);
                let is_object =
                    members.get("type").is_some_and(|kind| kind.to_string().contains("\"object\""));
                if is_object && !says("properties") && !says("additionalProperties") && !says("oneOf") {
                    untyped.push(at.to_owned());
                }
                for (name, member) in members {
                    find_untyped(&format!("{at}.{name}"), member, untyped);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| find_untyped(at, item, untyped)),
            _ => {}
        }
    }
}

//! Parameters of addresses that no route has are refused, on every route in one place: known are those that the document
//! names.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Query, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

use super::body::unknown_field;
use crate::problem::Problem;

/// The parameters that each route takes behind its `?`, by path and method.
#[derive(Default)]
pub(super) struct KnownParams(HashMap<String, Vec<(Method, Vec<String>)>>);

/// All that is needed of an operation to know its parameters.
pub(super) fn only_params(operation: Operation) -> Operation {
    let mut parameters = operation.parameters.unwrap_or_default();
    parameters.retain(
        |parameter| matches!(parameter, RefOr::T(one) if matches!(one.parameter_in, ParameterIn::Query)),
    );
    let mut only = Operation::default();
    only.parameters = Some(parameters);
    only
}

impl KnownParams {
    pub(super) fn of(routes: &OpenApi) -> Self {
        let names = |operation: &Operation| {
            let all = operation.parameters.iter().flatten();
            all.filter_map(|parameter| match parameter {
                RefOr::T(parameter) => Some(parameter.name.clone()),
                RefOr::Ref(_) => None,
            })
            .collect()
        };
        let methods = |item: &utoipa::openapi::path::PathItem| {
            let all = [
                (Method::GET, &item.get),
                (Method::PUT, &item.put),
                (Method::POST, &item.post),
                (Method::DELETE, &item.delete),
                (Method::PATCH, &item.patch),
            ];
            let known =
                all.into_iter().filter_map(|(method, operation)| Some((method, names(operation.as_ref()?))));
            known.collect()
        };
        Self(routes.paths.paths.iter().map(|(path, item)| (path.clone(), methods(item))).collect())
    }

    fn of_route(&self, path: &str, method: &Method) -> &[String] {
        // Whoever asks for the head of an answer asks as for the answer.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let of_path = self.0.get(path).map(Vec::as_slice).unwrap_or_default();
        of_path
            .iter()
            .find(|(known, _)| known == method)
            .map(|(_, names)| names.as_slice())
            .unwrap_or_default()
    }
}

/// Refuses a request with a parameter that its route does not have.
pub(super) async fn check(
    State(known): State<Arc<KnownParams>>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    if request.uri().query().is_some() {
        let Query(given) =
            Query::<Vec<(String, String)>>::try_from_uri(request.uri()).map_err(|rejection| {
                Problem::bad_request(format!("the address cannot be understood: {rejection}"))
            })?;
        let known = known.of_route(path.as_str(), request.method());
        if let Some((wrong, _)) = given.iter().find(|(name, _)| !known.contains(name)) {
            return Err(unknown_field("the address", wrong, known));
        }
    }
    Ok(next.run(request).await)
}

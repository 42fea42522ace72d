//! Routes are listed once, and used for two things: to be served, and to be written of. The second takes megabytes of
//! memory that a daemon need not hold until somebody asks for its document.
//! To serve them, nothing is kept of that but the names of their parameters.

/// What the routes are wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be served.
    Serve,
    /// To be written of.
    Describe,
}

/// The handlers of one path, all in one module.
macro_rules! routes {
    ($purpose:expr, $module:ident: $($handler:ident),+) => {
        match $purpose {
            $crate::routes::route_table::Purpose::Describe => utoipa_axum::routes!($($module::$handler),+),
            $crate::routes::route_table::Purpose::Serve => pastey::paste! {{
                use utoipa::Path as _;
                use utoipa_axum::PathItemExt as _;
                let mut paths = utoipa::openapi::path::Paths::new();
                let mut router = axum::routing::MethodRouter::new();
                $(
                    let methods = $module::[<__path_ $handler>]::methods();
                    for method in &methods {
                        router = router.on(method.to_method_filter(), $module::$handler);
                    }
                    let path = $module::[<__path_ $handler>]::path();
                    let params = $crate::routes::known_params::only_params(
                        $module::[<__path_ $handler>]::operation(),
                    );
                    paths.add_path_operation(&path, methods, params);
                )+
                (Vec::new(), paths, router)
            }},
        }
    };
}

pub(crate) use routes;

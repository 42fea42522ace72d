//! Scope × route × project × ceiling, over the wire.

mod ceilings;
mod every_route;
mod other_projects;
mod route_table;

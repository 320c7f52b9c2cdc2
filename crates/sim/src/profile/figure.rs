//! A figure of a profile, and where it comes from.

use serde::{Deserialize, Serialize};

use super::ProfileError;

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The vendor publishes it.
    DataSheet,
    /// It was measured on the drive.
    Measurement,
    /// It follows from how the part works.
    Physics,
    /// It was recalled from memory and not looked up.
    Recalled,
    /// Nothing is published for this drive: a value of its class.
    Assumed,
    /// It was chosen so that the model meets another known figure; `fitted_to` names that.
    Fitted,
    /// It was chosen freely, for a drive that does not exist.
    Chosen,
}

/// A figure, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure<T> {
    /// The value, in the unit that the key ends with.
    pub value: T,
    /// Where the value comes from.
    pub source: Source,
    /// What the value was fitted to; required for fitted figures, and refused for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_to: Option<String>,
    /// More about the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Checks that each fitted figure says what it was fitted to, and no other figure does.
pub(super) fn check_fits(profile: &toml::Table) -> Result<(), ProfileError> {
    check_table("", profile)
}

fn check_table(path: &str, table: &toml::Table) -> Result<(), ProfileError> {
    for (name, value) in table {
        let place = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        match value {
            toml::Value::Table(figure) if figure.contains_key("source") => {
                check_figure(&place, figure)?;
            }
            toml::Value::Table(inner) => check_table(&place, inner)?,
            toml::Value::Array(tables) => {
                let inner = tables.iter().filter_map(toml::Value::as_table);
                inner
                    .into_iter()
                    .try_for_each(|each| check_table(&place, each))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_figure(place: &str, figure: &toml::Table) -> Result<(), ProfileError> {
    let text = |key| figure.get(key).and_then(toml::Value::as_str);
    let fitted = text("source") == Some("fitted");
    let to = text("fitted_to").map(str::trim);
    let why = match (fitted, to) {
        (true, None | Some("")) => {
            "fitted, and it does not say to what: add fitted_to = \"...\", or name its other source (`chosen` for a drive that does not exist)"
        }
        (false, Some(_)) => "only a figure with source = \"fitted\" is fitted to something",
        _ => return Ok(()),
    };
    let value = match figure.get("value") {
        Some(toml::Value::Float(number)) => number.to_string(),
        Some(toml::Value::Integer(number)) => number.to_string(),
        Some(toml::Value::Boolean(yes)) => yes.to_string(),
        Some(toml::Value::String(text)) => text.clone(),
        _ => "a list".to_owned(),
    };
    Err(ProfileError::new(place, value, why))
}

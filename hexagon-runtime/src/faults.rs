use crate::RuntimeError;
use crate::projection::Projection;

/// Environment variable whose faults are added to those of the configuration.
pub const FAULTS_VARIABLE: &str = "PERMAFROST_FAULTS";

/// Faults forced on purpose, so that tests can see the fallback and the retry rule act.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A projection whose name contains one of these is treated as unsupported by the device.
    pub unsupported: Vec<String>,
    /// (name part, row): that row of every request to a matching projection is sent with a scale 2^8 too large, so
    /// that it overflows and the retry rule brings it back (a zero row stays zero). Rows count within one submit.
    pub overflow_rows: Vec<(String, usize)>,
}

impl Faults {
    /// Parses `unsupported=NAME_PART;overflow=NAME_PART:ROW;…` (any number of each).
    ///
    /// # Errors
    /// [`RuntimeError::BadFaults`] names the part that is not understood.
    pub fn parse(text: &str) -> Result<Faults, RuntimeError> {
        let mut faults = Faults::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let bad = || RuntimeError::BadFaults { part: part.to_owned() };
            match part.split_once('=').ok_or_else(bad)? {
                ("unsupported", name) if !name.is_empty() => faults.unsupported.push(name.to_owned()),
                ("overflow", spec) => {
                    let (name, row) = spec.rsplit_once(':').ok_or_else(bad)?;
                    faults.overflow_rows.push((name.to_owned(), row.parse().map_err(|_| bad())?));
                }
                _ => return Err(bad()),
            }
        }
        Ok(faults)
    }

    /// These faults and those of `PERMAFROST_FAULTS`.
    pub(crate) fn with_environment(mut self) -> Result<Faults, RuntimeError> {
        if let Ok(text) = std::env::var(FAULTS_VARIABLE) {
            let more = Faults::parse(&text)?;
            self.unsupported.extend(more.unsupported);
            self.overflow_rows.extend(more.overflow_rows);
        }
        Ok(self)
    }

    /// A fault that acts on nothing would make a test of it pass for the wrong reason.
    pub(crate) fn all_match(&self, projections: &[Projection]) -> Result<(), RuntimeError> {
        let parts = self.unsupported.iter().chain(self.overflow_rows.iter().map(|(part, _)| part));
        for part in parts {
            if !projections.iter().any(|projection| projection.name.contains(part.as_str())) {
                return Err(RuntimeError::UnmatchedFault { part: part.clone() });
            }
        }
        Ok(())
    }

    pub(crate) fn makes_unsupported(&self, name: &str) -> Option<&str> {
        self.unsupported.iter().map(String::as_str).find(|part| name.contains(part))
    }

    /// Rows of `name` to overflow.
    pub(crate) fn overflow_rows_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.overflow_rows.iter().filter(move |(part, _)| name.contains(part.as_str())).map(|(_, row)| *row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_both_kinds() {
        let faults = Faults::parse("unsupported=down_proj; overflow=layers.3.mlp.up_proj:17").unwrap();
        assert_eq!(faults.makes_unsupported("model.layers.0.mlp.down_proj"), Some("down_proj"));
        assert_eq!(faults.makes_unsupported("model.layers.0.mlp.up_proj"), None);
        assert_eq!(faults.overflow_rows_of("model.layers.3.mlp.up_proj").collect::<Vec<_>>(), [17]);
        assert_eq!(Faults::parse("").unwrap(), Faults::default());
    }

    #[test]
    fn names_the_part_it_does_not_understand() {
        for text in ["nonsense", "unsupported=", "overflow=x", "overflow=x:y", "slow=x"] {
            let error = Faults::parse(text).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
}

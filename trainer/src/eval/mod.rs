//! How good a model is: loss, label likelihood, greedy answers, accuracy and macro-F1.

mod agreement;
mod error;
mod greedy;
mod likelihood;
mod loss;
mod perplexity;
mod prefix;
mod question;

pub use agreement::Agreement;
pub use error::EvalError;
pub use greedy::greedy;
pub use likelihood::{best_choices, choice_scores};
pub use loss::{DataLoss, data_loss};
pub use perplexity::{perplexity, token_nll};
pub use question::Question;

use crate::adapter::Adapter;
use crate::architecture::Decoder;
use hexagon_runtime::Runtime;

/// The model under evaluation: frozen network, adapter if any, and where the projections run.
pub struct Subject<'a> {
    /// The frozen network.
    pub decoder: &'a Decoder,
    /// Runs its projections.
    pub runtime: &'a mut Runtime,
    /// The adapter applied, if any.
    pub adapter: Option<&'a Adapter>,
}

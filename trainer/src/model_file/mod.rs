//! model_file

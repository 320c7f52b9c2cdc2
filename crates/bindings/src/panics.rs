//! How a panic is told. It comes to Python as an exception, which says it to the user; a walk through the stack beside that takes
//! memory, and where there is none it waits for ever for a lock that it holds itself.

use std::panic::{PanicHookInfo, set_hook, take_hook};

use sim::flash::NO_MEMORY;

/// Set to anything, errors come with all that is known of them: as in `ssdlab.model.errors`.
const TRACEBACK_VARIABLE: &str = "SSDLAB_TRACEBACK";

/// Lets panics be told in one line without the stack; of memory that is wanting the exception says all.
pub(crate) fn say_briefly() {
    let in_full = take_hook();
    set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if std::env::var_os(TRACEBACK_VARIABLE).is_some() {
            in_full(panic);
        } else if !is_of_memory(panic) {
            // There is nobody else to tell where the thread is not joined.
            #[allow(clippy::print_stderr)]
            {
                eprintln!("{panic}");
            }
        }
    }));
}

fn is_of_memory(panic: &PanicHookInfo<'_>) -> bool {
    let text = panic.payload().downcast_ref::<String>();
    text.is_some_and(|text| text.starts_with(NO_MEMORY))
}

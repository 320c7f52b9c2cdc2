//! How panics are reported. A panic reaches Python as an exception, which tells the user. A stack trace in addition
//! takes memory. If no memory is left, printing it waits for ever for a lock that the same thread holds.

use std::panic::{PanicHookInfo, set_hook, take_hook};

use sim::flash::NO_MEMORY;

/// If this variable is set to any value, errors are shown with everything known about them, as in `ssdlab.model.errors`.
const TRACEBACK_VARIABLE: &str = "SSDLAB_TRACEBACK";

/// Has panics reported in one line without the stack. Reports nothing if memory ran out, because the exception says it all.
pub(crate) fn say_briefly() {
    let in_full = take_hook();
    set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        if std::env::var_os(TRACEBACK_VARIABLE).is_some() {
            in_full(panic);
        } else if !is_of_memory(panic) {
            // If the thread is not joined, nobody else reports the panic.
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

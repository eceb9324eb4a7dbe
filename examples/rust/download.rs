//! A host in Rust that downloads one file. It needs only the header, from which bindgen makes the declarations:
//!
//!     bindgen /usr/local/include/backhaul.h >backhaul.rs && rustc download.rs -L /usr/local/lib -l backhaul
//!     ./download https://example.org/photo.jpg /home/me/photo.jpg
#[allow(warnings)]
mod backhaul;

use backhaul::*;
use std::ffi::{CStr, CString};
use std::{env, mem, process, ptr};

/// A struct of the header with its default values, as BH_INIT makes it.
fn init<T>() -> T {
    let mut value = mem::MaybeUninit::<T>::zeroed();
    unsafe {
        bh_init(value.as_mut_ptr().cast(), mem::size_of::<T>() as _);
        value.assume_init()
    }
}

fn text(pointer: *const std::os::raw::c_char) -> String {
    if pointer.is_null() { return String::new(); }
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn check(status: bh_status, error: &bh_error) {
    if status == BH_OK as bh_status { return; }
    eprintln!("{}: {}", text(unsafe { bh_status_name(status) }), text(error.message.as_ptr()));
    process::exit(1);
}

fn main() {
    let words: Vec<CString> = env::args().map(|word| CString::new(word).unwrap()).collect();
    if words.len() != 3 {
        eprintln!("usage: download URL FILE");
        process::exit(2);
    }
    let (identifier, name) = (CString::new("org.example.download").unwrap(), CString::new("files").unwrap());
    let (mut application, mut session, mut error) = (ptr::null_mut(), ptr::null_mut(), init::<bh_error>());
    let (mut is_finished, mut failures) = (false, 0);
    unsafe {
        let mut options: bh_application_options = init();
        options.identifier = identifier.as_ptr();
        check(bh_application_open(&options, BH_WAIT_DEFAULT, &mut application, &mut error), &error);
        let mut configuration: bh_session_configuration = init();
        configuration.identifier = name.as_ptr();
        check(bh_session_create(application, &configuration, BH_ROLE_CONSUME as _, BH_WAIT_DEFAULT, &mut session,
                                ptr::null_mut(), &mut error), &error);
        let mut request: bh_request = init();
        request.url = words[1].as_ptr();
        request.destination = words[2].as_ptr();
        request.idempotency_key = words[2].as_ptr(); // after a crash, the next run finds the same task
        request.if_exists = BH_IF_EXISTS_REPLACE as _;
        request.flags = BH_REQUEST_IF_CHANGED; // an earlier run may have downloaded the file
        check(bh_session_enqueue(session, &request, 1, BH_WAIT_DEFAULT, ptr::null_mut(), &mut error), &error);
        while !is_finished {
            let mut events = ptr::null_mut();
            check(bh_session_poll(session, 0, 100, BH_WAIT_DEFAULT, &mut events, &mut error), &error);
            for index in 0..bh_batch_count(events) {
                let item = bh_batch_item(events, index, BH_ITEM_EVENT as _, mem::size_of::<bh_event>() as _);
                let event = &*(item as *const bh_event);
                is_finished |= event.kind == BH_EVENT_SESSION_FINISHED as bh_event_kind;
                if event.kind == BH_EVENT_TASK_ENDED as bh_event_kind {
                    failures += (event.status != BH_OK as bh_status) as i32;
                    println!("{} {}{}", text(event.url), text(event.path), text(event.error_message));
                }
                check(bh_session_acknowledge_through(session, event.id, BH_WAIT_DEFAULT, ptr::null_mut(), &mut error),
                      &error);
            }
            bh_batch_release(events);
        }
        check(bh_session_complete(session, BH_WAIT_DEFAULT, &mut error), &error);
        bh_application_close(application);
    }
    process::exit((failures > 0) as i32);
}

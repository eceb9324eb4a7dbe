internal import CProcess

/// How this process was made, as seen from the library. Sources/CProcess/process.c explains the rules for forked
/// children.
public enum ProcessOrigin {
    /// Notes that this process opens an application. From now on, its forked children must not use the library.
    public static func noteOpening() { bhl_note_opening() }

    /// Performs a call of the host, in the way that this process permits. Returns false if this process was forked
    /// after its parent had opened an application: then the body does not run.
    @discardableResult public static func perform(_ body: () -> Void) -> Bool {
        switch bhl_process_origin() {
        case BHL_FORKED_AFTER_OPEN: return false
        case BHL_FORKED_AFTER_LOAD: performOnNewThread(body)
        default: body()
        }
        return true
    }

    private static func performOnNewThread(_ body: () -> Void) {
        // The compiler puts the path of this file into the code that checks the closure. Without a folder in this path,
        // two checkouts have the same binaries.
        #sourceLocation(file:"ForkedCall.swift",line:24)
        withoutActuallyEscaping(body) { body in
            // Unsafe: the closure is used only until the call returns.
            withUnsafePointer(to: body) { pointer in
                bhl_call_on_new_thread(
                    { argument in
                        // Unsafe: the argument is the pointer to the closure.
                        argument?.assumingMemoryBound(to: (() -> Void).self).pointee()
                    }, UnsafeMutableRawPointer(mutating: pointer))
            }
        }
        #sourceLocation()
    }
}

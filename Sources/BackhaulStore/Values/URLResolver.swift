public import BackhaulModel

/// Resolves a reference against the URL of the response that has it (RFC 3986, section 5), and checks the result. The
/// engine gives it to the store when it opens the store.
public struct URLResolver: Sendable {
    /// Returns an absolute http or https URL without user name and password, and its origin.
    public let resolve: @Sendable (_ reference: String, _ base: String) throws(Failure) -> (url: String, origin: Origin)

    public init(
        resolve:
            @escaping @Sendable (_ reference: String, _ base: String) throws(Failure) -> (
                url: String, origin: Origin
            )
    ) {
        self.resolve = resolve
    }

    /// Refuses each URL. For stores that run no tasks.
    public static let none = URLResolver { (_, _) throws(Failure) in
        throw Failure(.internal, "the store has no resolver of URLs; please report it")
    }
}

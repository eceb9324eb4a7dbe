public import BackhaulModel
internal import BackhaulTransport

/// Checks a request as far as that needs no disk: by the host before it is sent, and by the engine when it arrives,
/// because either treats the other as hostile.
public enum RequestIntake {
    public static func check(_ request: Request) throws(Failure) -> Origin {
        try RequestCheck.check(request)
        return try WebAddress.origin(of: request.url)
    }
}

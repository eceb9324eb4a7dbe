extension WaitReason {
    /// One sentence, nil for a task that moves or has ended.
    public var text: String? {
        switch self {
        case .none: nil
        case .turn: "other tasks run before it"
        case .suspended: "it is suspended until it is resumed"
        case .retry: "the last attempt failed, and the next waits for its time"
        case .connecting: "the server has not answered yet"
        case .stalled: "the server sends nothing"
        case .finishing: "all bytes are here and are being made durable"
        case .credential: "a server or proxy asks for a credential, and its challenge is not answered"
        case .connectivity: "there is no way to the server, and changes of the network are waited for"
        case .rate: "its bytes per second are used up for the moment"
        case .diskFull: "the file system is full, and is looked at again after a while"
        }
    }
}

extension WaitReason {
    /// Why a task waited after a failed attempt with this status.
    public init(ofDelayAfter status: Status) {
        self =
            switch status {
            case .diskFull: .diskFull
            case .storageAway, .destinationUnavailable: .storage
            default: .retry
            }
    }

    /// One sentence about the reason; nil if the task progresses or has ended.
    public var text: String? {
        switch self {
        case .none: nil
        case .slot: "other transfers run before it"
        case .suspended: "it is suspended until it is resumed"
        case .retry: "the last attempt failed, and the next one is delayed"
        case .connecting: "the server has not responded yet"
        case .stalled: "the server sends nothing"
        case .disk: "the disk writes, reads or syncs its bytes"
        case .credential: "a server or proxy asks for a credential, and the host has given none yet"
        case .connectivity: "there is no route to the server, and the transfer waits for a change of the network"
        case .rate: "its share of the rate limit is used up for the moment"
        case .power: "the transfer waits for external power"
        case .battery: "the transfer waits until the battery has more charge"
        case .heat: "the transfer waits until the machine is cooler"
        case .pressure: "the transfer waits until the machine has less to do"
        case .metered: "the transfer waits for an unmetered network"
        case .network: "the transfer waits for a network of another kind"
        case .throughput: "too little came from the server, and the transfer is retried after a pause"
        case .earliestStart: "the transfer waits for its earliest start"
        case .quietHours: "the transfer waits until the quiet hours are over"
        case .budget: "the bytes that may be moved on this network are used up"
        case .sleep: "the machine is about to sleep"
        case .portal: "all servers fail in the same way: a portal asks for a login, or the uplink is dead"
        case .storage: "the directory or the file system of its file is away, or the file cannot get its name"
        case .clock: "the certificate of the server is not valid yet, because the clock of this machine is not set"
        case .origin: "the server has asked for a pause, and all transfers for it wait"
        case .dependency: "it waits for the end of another transfer"
        case .diskFull: "the file system has no room for the file, and is checked again after a while"
        }
    }
}

import CCurl
import Glibc

/// How libcurl itself reads a reply, without Backhaul's transport.
struct CurlReading {
    var result = CURLE_OK
    var status = 0
    var fields: [Field] = []
    var body: [UInt8] = []

    struct Field: Equatable {
        var name: String
        /// The value with each run of white space as one space. libcurl keeps other white space of a folded line than
        /// Backhaul does.
        var value: [UInt8]

        init(_ name: String, _ value: some Sequence<UInt8>) {
            self.name = name
            let words = Array(value).split { $0 == 0x20 || (0x09...0x0D).contains($0) }
            self.value = Array(words.joined(separator: [0x20]))
        }
    }

    /// Performs a GET request with a new handle of libcurl, and waits for its end.
    init(url: String) {
        guard let handle = curl_easy_init() else { fatalError("libcurl has no memory") }
        defer { curl_easy_cleanup(handle) }
        let body = Body()
        _ = bhl_easy_set_string(handle, CURLOPT_URL, url)
        _ = bhl_easy_set_string(handle, CURLOPT_PROXY, "")
        _ = bhl_easy_set_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = bhl_easy_set_receiver(handle, CURLOPT_WRITEFUNCTION, receive)
        _ = bhl_easy_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(body).toOpaque())
        result = withExtendedLifetime(body) { curl_easy_perform(handle) }
        _ = bhl_easy_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        self.body = body.bytes
        var header = curl_easy_nextheader(handle, UInt32(CURLH_HEADER), -1, nil)
        while let found = header {
            // Unsafe: the texts live until the next call for this handle, and are copied.
            let value = UnsafeRawBufferPointer(start: found.pointee.value, count: strlen(found.pointee.value))
            fields.append(Field(String(cString: found.pointee.name), value))
            header = curl_easy_nextheader(handle, UInt32(CURLH_HEADER), -1, found)
        }
    }

    private final class Body {
        var bytes: [UInt8] = []
    }

    private let receive: curl_write_callback = { data, size, count, receiver in
        guard let data, let receiver else { return 0 }
        Unmanaged<Body>.fromOpaque(receiver).takeUnretainedValue().bytes += UnsafeRawBufferPointer(
            start: data, count: size &* count)
        return size &* count
    }
}

public import BackhaulModel

/// Operations on the resources that servers have made for uploads.
public struct UploadOperations {
    let tables: Tables

    /// Records where the rest of a task's upload is sent; nil: the next attempt begins at the first byte. If the task
    /// was cancelled meanwhile, the resource is abandoned. Returns whether this is so. `now`: Unix milliseconds.
    public func record(_ resource: UploadResource?, of task: TaskID, now: Int64) throws(Failure) -> Bool {
        if let resource { try tables.uploads.write(resource, of: task) } else { try tables.uploads.remove(of: task) }
        guard resource != nil, try tables.uploads.abandon(ofEnded: task, now: now) else { return false }
        try tables.uploads.remove(of: task)
        return true
    }

    /// Moves the task's resource to the uploads whose servers are asked to remove what they have. `now`: Unix
    /// milliseconds.
    public func abandon(_ task: TaskID, now: Int64) throws(Failure) {
        if try tables.uploads.abandon(of: task, now: now) { try tables.uploads.remove(of: task) }
    }

    /// Returns the next uploads that ended without success, with the present configurations of their sessions. `url`:
    /// the last one of the previous call. Forgets the uploads whose sessions do not exist any more.
    public func abandoned(
        after url: String, limit: Int
    ) throws(Failure) -> [(upload: AbandonedUpload, configuration: SessionConfiguration)] {
        var found: [(upload: AbandonedUpload, configuration: SessionConfiguration)] = []
        var url = url
        while found.isEmpty {
            let uploads = try tables.uploads.abandoned(after: url, limit: limit)
            guard let last = uploads.last else { break }
            for upload in uploads {
                if let configuration = try tables.sessions.configuration(of: upload.session) {
                    found.append((upload, configuration))
                } else {
                    try tables.uploads.forget(upload)
                }
            }
            url = last.url
        }
        return found
    }

    /// Forgets an upload that ended without success, because its server has nothing of it any more.
    public func forget(_ upload: AbandonedUpload) throws(Failure) { try tables.uploads.forget(upload) }
}

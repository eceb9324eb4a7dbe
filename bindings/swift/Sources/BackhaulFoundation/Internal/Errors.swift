internal import Backhaul
internal import Foundation

/// Converts an error to a `URLError` with one of Apple's codes (NSURLError.h). The library's error becomes the
/// underlying error of the `URLError`.
func urlError(_ error: BackhaulError, _ url: URL?, _ more: [String: Any] = [:]) -> URLError {
    var details: [String: Any] = [NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.message]
    details.merge(more) { _, new in new }
    return URLError(code(error.status), userInfo: details.merging(failing(url)) { _, new in new })
}

/// The details of an error that name the URL of the failed request.
func failing(_ url: URL?) -> [String: Any] {
    guard let url else { return [:] }
    // Swift's constant for the second key, NSURLErrorFailingURLStringErrorKey, is deprecated.
    return [NSURLErrorFailingURLErrorKey: url, "NSErrorFailingURLStringKey": url.absoluteString]
}

private func code(_ status: Status) -> URLError.Code {
    switch status {
    case .cancelled: .cancelled
    case .nameNotResolved: .cannotFindHost
    case .connectionFailed, .addressRefused: .cannotConnectToHost
    case .connectionLost, .tlsTruncated: .networkConnectionLost
    case .requestTimeout, .resourceTimeout: .timedOut
    case .tlsFailed: .secureConnectionFailed
    case .httpStatus: .badServerResponse
    case .redirectRefused: .httpTooManyRedirects
    case .badResponse: .cannotParseResponse
    case .tooLarge: .dataLengthExceedsMaximum
    case .authenticationRequired: .userAuthenticationRequired
    case .destinationExists, .destinationUnavailable, .destinationInUse: .cannotCreateFile
    case .diskFull, .diskFailed, .storageAway, .storeFull, .storeReadOnly: .cannotWriteToFile
    case .bodyUnavailable: .cannotOpenFile
    case .bodyChanged: .requestBodyStreamExhausted
    case .checksumMismatch, .sizeMismatch, .unexpectedType: .cannotDecodeRawData
    case .invalidArgument: .badURL
    case .inUse: .backgroundSessionInUseByAnotherProcess
    case .invalidated, .completed, .invalidHandle, .storeUnavailable, .storeDamaged, .storeNewer,
        .storeOnNetworkFileSystem, .timeout, .engineUnresponsive, .engineIncompatible, .engineFailed,
        .daemonUnavailable:
        .backgroundSessionWasDisconnected
    default: .unknown
    }
}

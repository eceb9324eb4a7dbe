// Apple's names for the types of BackhaulFoundation, so that sources written for Apple's systems compile here with
// changed imports. A file that imports FoundationNetworking has that module's types under these names, which cannot
// work in the background. Such a file uses the names of BackhaulFoundation.
@_exported public import BackhaulFoundation
public import FoundationNetworking

public typealias URLSession = BackgroundURLSession
public typealias URLSessionConfiguration = BackgroundURLSessionConfiguration
public typealias URLSessionTask = BackgroundURLSessionTask
public typealias URLSessionDownloadTask = BackgroundURLSessionDownloadTask
public typealias URLSessionDataTask = BackgroundURLSessionDataTask
public typealias URLSessionUploadTask = BackgroundURLSessionUploadTask
public typealias URLSessionTaskMetrics = BackgroundURLSessionTaskMetrics
public typealias URLSessionTaskTransactionMetrics = BackgroundURLSessionTaskTransactionMetrics
public typealias URLSessionDataDelegate = BackgroundURLSessionDataDelegate
public typealias URLSessionDelegate = BackgroundURLSessionDelegate
public typealias URLSessionTaskDelegate = BackgroundURLSessionTaskDelegate
public typealias URLSessionDownloadDelegate = BackgroundURLSessionDownloadDelegate
public let NSURLSessionDownloadTaskResumeData = BackgroundURLSessionDownloadTaskResumeData
public let NSURLSessionTransferSizeUnknown = BackgroundURLSessionTransferSizeUnknown

public typealias NSBackgroundActivityScheduler = BackgroundActivityScheduler

/// The application, under UIKit's name.
public typealias UIApplication = BackgroundApplication
public typealias UIApplicationDelegate = BackgroundApplicationDelegate

// The types of their arguments and results, so that a file needs only one import.
public typealias URLRequest = FoundationNetworking.URLRequest
public typealias URLResponse = FoundationNetworking.URLResponse
public typealias HTTPCookie = FoundationNetworking.HTTPCookie
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse
public typealias URLCredential = FoundationNetworking.URLCredential
public typealias URLAuthenticationChallenge = FoundationNetworking.URLAuthenticationChallenge

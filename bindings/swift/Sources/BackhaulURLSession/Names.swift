// This file defines Apple's names for the types of BackhaulFoundation. So a source file for Apple's systems compiles
// here when its imports are changed; the rest of the file can stay. If a file imports FoundationNetworking, the names
// mean the types of FoundationNetworking. Transfers of those types do not continue in the background, so such a file
// must use the names of BackhaulFoundation.
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

/// The application, with the name that it has in UIKit.
public typealias UIApplication = BackgroundApplication
public typealias UIApplicationDelegate = BackgroundApplicationDelegate

// The types below occur in arguments and results. They have names here, so a source file needs only one import.
public typealias URLRequest = FoundationNetworking.URLRequest
public typealias URLResponse = FoundationNetworking.URLResponse
public typealias HTTPCookie = FoundationNetworking.HTTPCookie
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse
public typealias URLCredential = FoundationNetworking.URLCredential
public typealias URLAuthenticationChallenge = FoundationNetworking.URLAuthenticationChallenge

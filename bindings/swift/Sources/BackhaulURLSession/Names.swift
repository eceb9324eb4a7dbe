// This file defines Apple's names for the types of BackhaulFoundation, so that sources written for Apple's systems
// compile here with changed imports. In a file that imports FoundationNetworking, these names mean the types of that
// module, whose transfers do not continue in the background. Such a file must use the names of BackhaulFoundation.
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

// The names below are the types of arguments and results, so that a source file needs only one import.
public typealias URLRequest = FoundationNetworking.URLRequest
public typealias URLResponse = FoundationNetworking.URLResponse
public typealias HTTPCookie = FoundationNetworking.HTTPCookie
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse
public typealias URLCredential = FoundationNetworking.URLCredential
public typealias URLAuthenticationChallenge = FoundationNetworking.URLAuthenticationChallenge

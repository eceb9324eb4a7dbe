// This file defines Apple's names for the types of BackhaulFoundation. So a source file for Apple's systems compiles
// here when its imports are changed; the rest of the file can stay. If a file imports FoundationNetworking, the names
// mean the types of FoundationNetworking. Transfers of those types do not continue in the background, so such a file
// must use the names of BackhaulFoundation.
@_exported public import BackhaulFoundation
public import FoundationNetworking

/// Apple's name of `BackgroundURLSession`.
public typealias URLSession = BackgroundURLSession
/// Apple's name of `BackgroundURLSessionConfiguration`.
public typealias URLSessionConfiguration = BackgroundURLSessionConfiguration
/// Apple's name of `BackgroundURLSessionTask`.
public typealias URLSessionTask = BackgroundURLSessionTask
/// Apple's name of `BackgroundURLSessionDownloadTask`.
public typealias URLSessionDownloadTask = BackgroundURLSessionDownloadTask
/// Apple's name of `BackgroundURLSessionDataTask`.
public typealias URLSessionDataTask = BackgroundURLSessionDataTask
/// Apple's name of `BackgroundURLSessionUploadTask`.
public typealias URLSessionUploadTask = BackgroundURLSessionUploadTask
/// Apple's name of `BackgroundURLSessionTaskMetrics`.
public typealias URLSessionTaskMetrics = BackgroundURLSessionTaskMetrics
/// Apple's name of `BackgroundURLSessionTaskTransactionMetrics`.
public typealias URLSessionTaskTransactionMetrics = BackgroundURLSessionTaskTransactionMetrics
/// Apple's name of `BackgroundURLSessionDataDelegate`.
public typealias URLSessionDataDelegate = BackgroundURLSessionDataDelegate
/// Apple's name of `BackgroundURLSessionDelegate`.
public typealias URLSessionDelegate = BackgroundURLSessionDelegate
/// Apple's name of `BackgroundURLSessionTaskDelegate`.
public typealias URLSessionTaskDelegate = BackgroundURLSessionTaskDelegate
/// Apple's name of `BackgroundURLSessionDownloadDelegate`.
public typealias URLSessionDownloadDelegate = BackgroundURLSessionDownloadDelegate
/// Apple's name of `BackgroundURLSessionDownloadTaskResumeData`.
public let NSURLSessionDownloadTaskResumeData = BackgroundURLSessionDownloadTaskResumeData
/// Apple's name of `BackgroundURLSessionUploadTaskResumeData`.
public let NSURLSessionUploadTaskResumeData = BackgroundURLSessionUploadTaskResumeData
/// Apple's name of `BackgroundURLSessionTransferSizeUnknown`.
public let NSURLSessionTransferSizeUnknown = BackgroundURLSessionTransferSizeUnknown

/// Apple's name of `BackgroundActivityScheduler`.
public typealias NSBackgroundActivityScheduler = BackgroundActivityScheduler

/// The application, with the name that it has in UIKit.
public typealias UIApplication = BackgroundApplication
/// Apple's name of `BackgroundApplicationDelegate`.
public typealias UIApplicationDelegate = BackgroundApplicationDelegate

// The types below occur in arguments and results. They have names here, so a source file needs only one import.
/// The type of FoundationNetworking.
public typealias URLRequest = FoundationNetworking.URLRequest
/// The type of FoundationNetworking.
public typealias URLResponse = FoundationNetworking.URLResponse
/// The type of FoundationNetworking.
public typealias HTTPCookie = FoundationNetworking.HTTPCookie
/// The type of FoundationNetworking.
public typealias HTTPURLResponse = FoundationNetworking.HTTPURLResponse
/// The type of FoundationNetworking.
public typealias URLCredential = FoundationNetworking.URLCredential
/// The type of FoundationNetworking.
public typealias URLAuthenticationChallenge = FoundationNetworking.URLAuthenticationChallenge

import CReportPage

/// The page of a report: one file of HTML, which needs no network.
struct ReportPage {
    let data: String
    /// A number that no author of a foreign text knows. Browsers run only the script that has this number.
    let nonce: String

    init(data: String) {
        self.data = data
        var generator = SystemRandomNumberGenerator()
        nonce = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
    }

    private static let style = String(cString: bhl_report_style())
    private static let body = String(cString: bhl_report_body())
    private static let script = String(cString: bhl_report_script())

    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; \
        script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <meta name="generator" content="backhaul report">
        <title>Backhaul report</title>
        <style nonce="\(nonce)">
        \(ReportPage.style)</style>
        </head>
        \(ReportPage.body)
        <script type="application/json" id="data">\(data)</script>
        <script nonce="\(nonce)">
        \(ReportPage.script)</script>
        </body>
        </html>

        """
    }
}

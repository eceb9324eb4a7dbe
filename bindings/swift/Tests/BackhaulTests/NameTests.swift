import Backhaul
import Testing

@Suite("The names of constants as text")
struct NameTests {
    @Test("a constant has the name that it has in the command line")
    func constants() {
        #expect(TaskState.running.name == "running")
        #expect(Activity.QualityOfService.userInitiated.name == "user_initiated")
        #expect(RedirectPolicy.never.name == "none")
        #expect(HTTPVersion.http1_1.name == "http1.1")
    }

    @Test("a set has the names of its members")
    func sets() {
        #expect("\(NetworkKinds([.wifi, .ethernet]))" == "ethernet|wifi")
        #expect("\(Tolerances([]))" == "none")
        #expect("\(Challenge.Schemes(rawValue: 1 << 30))" == "unknown")
    }

    @Test("all states, kinds of conditions and reasons have different names")
    func all() {
        #expect(Set(TaskState.allCases.map(\.name)).count == TaskState.allCases.count)
        #expect(Set(Condition.Kind.allCases.map(\.name)).count == Condition.Kind.allCases.count)
        #expect(!TaskState.allCases.map(\.name).contains("unknown"))
    }
}

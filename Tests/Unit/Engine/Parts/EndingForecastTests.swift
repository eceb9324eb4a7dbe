import Testing

@testable import BackhaulEngine

/// The forecast decides whether further tasks are expected to end within a few milliseconds.
@Suite("The forecast of tasks' ends")
struct EndingForecastTests {
    private static let others = EndingForecast.fewestOtherTasks

    private static func forecast(_ times: [Int64]) -> EndingForecast {
        var forecast = EndingForecast()
        for time in times { forecast.record(1, now: time) }
        return forecast
    }

    @Test("further ends are expected if eight ends were written within 50 ms and eight other tasks run")
    func expected() {
        let forecast = Self.forecast([1_000, 1_010, 1_020, 1_030, 1_040, 1_050, 1_050, 1_050])
        #expect(forecast.expectsFurtherEnds(otherTasks: Self.others, now: 1_050))
        #expect(!forecast.expectsFurtherEnds(otherTasks: Self.others - 1, now: 1_050))
        #expect(!forecast.expectsFurtherEnds(otherTasks: Self.others, now: 1_051))
    }

    @Test("without eight earlier ends, no further ends are expected")
    func fewEnds() {
        #expect(!EndingForecast().expectsFurtherEnds(otherTasks: 1_000, now: 0))
        let forecast = Self.forecast(Array(repeating: 1_000, count: EndingForecast.fewestEnds - 1))
        #expect(!forecast.expectsFurtherEnds(otherTasks: 1_000, now: 1_000))
    }

    @Test("ends that are written together count one by one, and only the newest ends count")
    func together() {
        var forecast = Self.forecast([0, 0, 0])
        forecast.record(4, now: 1_000)
        #expect(!forecast.expectsFurtherEnds(otherTasks: Self.others, now: 1_000))
        forecast.record(4, now: 1_010)
        #expect(forecast.expectsFurtherEnds(otherTasks: Self.others, now: 1_050))
        forecast.record(1_000, now: 2_000)
        #expect(forecast.expectsFurtherEnds(otherTasks: Self.others, now: 2_050))
    }
}

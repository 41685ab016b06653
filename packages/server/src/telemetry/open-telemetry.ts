import type { Logger } from '../log.ts'
import type { TelemetrySettings } from '../otel-settings.ts'
import type { Telemetry } from './telemetry.ts'

/** Starts the exports that the settings ask for. Undefined if there are none. Then nothing of OpenTelemetry is loaded. */
export async function openTelemetry(settings: TelemetrySettings, log: Logger): Promise<Telemetry | undefined> {
  if (!settings.traces && !settings.metrics && !settings.logs) return undefined
  return (await import('./opentelemetry.ts')).createTelemetry(settings, log)
}

/**
 * The standard OpenTelemetry settings that this service reads itself. The OpenTelemetry libraries read the settings of the
 * exporters.
 */

export type TelemetrySettings = {
  readonly traces: boolean
  readonly metrics: boolean
  readonly logs: boolean
}

/**
 * Whether traces, metrics and log lines are exported. As the OpenTelemetry specification says, they are if an exporter or an
 * endpoint is set.
 * @param fieldErrors collects the settings that are not supported
 */
export function readTelemetrySettings(
  given: (name: string) => string | undefined,
  fieldErrors: string[],
): TelemetrySettings {
  if (given('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return { traces: false, metrics: false, logs: false }
  const wants = (signal: 'TRACES' | 'METRICS' | 'LOGS'): boolean => {
    const exporter = given(`OTEL_${signal}_EXPORTER`)
    const endpoint = given('OTEL_EXPORTER_OTLP_ENDPOINT') ?? given(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)
    if (exporter !== undefined && exporter !== 'otlp' && exporter !== 'none') {
      fieldErrors.push(`OTEL_${signal}_EXPORTER must be otlp or none.`)
    }
    const isWanted = exporter === undefined ? endpoint !== undefined : exporter === 'otlp'
    const protocol = given(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`) ?? given('OTEL_EXPORTER_OTLP_PROTOCOL')
    if (isWanted && protocol !== undefined && protocol !== 'http/protobuf') {
      fieldErrors.push(
        `OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, which every collector takes, not ${protocol}.`,
      )
    }
    return isWanted
  }
  return { traces: wants('TRACES'), metrics: wants('METRICS'), logs: wants('LOGS') }
}

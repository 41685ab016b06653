import {
  type AnyValue,
  type Attributes,
  type LogRecord,
  ROOT_CONTEXT,
  SeverityNumber,
  TraceFlags,
  trace,
} from '@opentelemetry/api'

const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
}

/**
 * A log line as an OpenTelemetry record: its message becomes the body, and its other fields become attributes with the same
 * names. The fields of an error get the names of the semantic conventions, and the record belongs to the trace of the line.
 * @param line JSON of the logger
 */
export function recordOf(line: string): LogRecord {
  const { level, time, msg, trace_id, span_id, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const severityText = String(level)
  return {
    timestamp: new Date(String(time)),
    severityNumber: severities[severityText] ?? SeverityNumber.UNSPECIFIED,
    severityText,
    body: String(msg),
    attributes: { ...(fields as Attributes), ...attributesOf(err) },
    context:
      typeof trace_id === 'string' && typeof span_id === 'string'
        ? trace.setSpanContext(ROOT_CONTEXT, { traceId: trace_id, spanId: span_id, traceFlags: TraceFlags.NONE })
        : ROOT_CONTEXT,
  }
}

/** @param error as the log describes it */
function attributesOf(error: unknown): Attributes {
  if (typeof error !== 'object' || error === null) return {}
  const { type, message, stack, ...others } = error as Record<string, AnyValue>
  return {
    'exception.type': type,
    'exception.message': message,
    'exception.stacktrace': stack,
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [`error.${name}`, value])),
  }
}

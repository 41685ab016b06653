import { readFile } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import { type Finding, problem, well } from './check.ts'
import { ask, describeFailure, withoutSecrets } from './http.ts'

const usualEndpoint = 'http://localhost:4318'

/** Sends each exported signal without data to its collector. The body of an export without data is empty in protobuf. */
export async function checkTelemetry(
  env: NodeJS.ProcessEnv,
  { telemetry }: Pick<Config, 'telemetry'>,
): Promise<Finding> {
  const signals = (['traces', 'metrics', 'logs'] as const).filter((signal) => telemetry[signal])
  if (signals.length === 0) return well('nothing is exported')
  const found = await Promise.all(signals.map((signal) => checkSignal(env, signal)))
  const problems = found.filter(({ ok }) => !ok).map(({ message }) => message)
  if (problems.length > 0) return problem([...new Set(problems)].join(' '))
  return well(`${signals.join(', ')}: ${[...new Set(found.map(({ message }) => message))].join(', ')}`)
}

async function checkSignal(env: NodeJS.ProcessEnv, signal: 'traces' | 'metrics' | 'logs'): Promise<Finding> {
  const given = (name: string) => env[name]?.trim() || undefined
  const of = (name: string) =>
    given(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`) ?? given(`OTEL_EXPORTER_OTLP_${name}`)
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`
  const setting = given(own) ? own : 'OTEL_EXPORTER_OTLP_ENDPOINT'
  const base = given('OTEL_EXPORTER_OTLP_ENDPOINT') ?? usualEndpoint
  const url = URL.parse(given(own) ?? `${base.replace(/\/$/, '')}/v1/${signal}`)
  if (!url || !/^https?:$/.test(url.protocol)) {
    return problem(
      `${setting} is not an http or https address. Set it to the address of the collector, such as http://collector.example.com:4318.`,
    )
  }
  const server = withoutSecrets(url)
  const file = of('CERTIFICATE')
  const ca = file === undefined ? undefined : await readFile(file).catch(() => undefined)
  if (file !== undefined && !ca)
    return problem(`The file ${file} of OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read. Check its path and its mode.`)
  try {
    const headers = { ...headersOf(of('HEADERS')), 'content-type': 'application/x-protobuf', 'content-length': '0' }
    const { status } = await ask(url, { method: 'POST', headers, ca })
    if (status >= 200 && status < 300) return well(`${server} accepts them`)
    const advice =
      status === 401 || status === 403
        ? 'Check OTEL_EXPORTER_OTLP_HEADERS.'
        : `Check ${setting}, and that the collector receives OTLP over HTTP there.`
    return problem(`${server} answers an export with the status ${status}. ${advice}`)
  } catch (error) {
    return problem(
      `${describeFailure(error, server)} Check ${setting}, and that the collector runs and receives OTLP over HTTP.`,
    )
  }
}

/** Headers as `name=value,name=value`, with values in the encoding of an address. */
function headersOf(text = ''): Record<string, string> {
  return Object.fromEntries(
    text.split(',').flatMap((entry) => {
      const [, name, value = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(entry) ?? []
      return name === undefined ? [] : [[name, decode(value)]]
    }),
  )
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

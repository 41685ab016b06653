import type { Cell, Discovered, DiscoveredPage } from '@penstock/connector'
import { limits } from '@penstock/wire/rules'
import { isPersonal, type Showing, shorten } from './mapping/shorten.ts'
import type { DiscoveryJob } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'
import { storable } from './storable.ts'

/**
 * Finds values of a setting at the platform. Skips texts that are too long for a value, and drops results beyond the requested
 * number. Throws a `ConnectorError`, or the signal's reason once the signal is aborted.
 */
export async function runDiscovery(
  { connector: opened, role, field, search, cursor, size, withSamples, showing }: DiscoveryJob,
  runtime: JobRuntime,
  signal: AbortSignal,
): Promise<DiscoveredPage> {
  const connector = await runtime.loadConnector(opened.slug)
  const discover = (role === 'Source' ? connector.source : connector.destination)?.discover?.[field]
  if (!discover) throw new Error('This field cannot be discovered')
  const { context, redact } = openContext(runtime, connector, role, opened, signal)
  const found = await withoutSecrets(
    redact,
    () => discover({ ...context, search, cursor: cursor ?? undefined, size, withSamples }),
    role,
  )
  const items = found.items.slice(0, size).flatMap((item): Discovered[] => {
    if (item.value === '' || item.value.length > limits.discoveredLengthMax) return []
    // A server could return the credentials that it received.
    if (redact(item.value) !== item.value) return []
    const { label, type, samples, ...rest } = item
    return [
      {
        ...rest,
        ...(withSamples && samples ? { samples: shownOf(item.value, samples, showing).map(redact) } : {}),
        ...(label === undefined ? {} : { label: redact(label).slice(0, limits.discoveredLengthMax) }),
        ...(type === undefined ? {} : { type: redact(type).slice(0, limits.discoveredLengthMax) }),
      },
    ]
  })
  const { next } = found
  if (next === undefined || next.length > limits.discoveryCursorLengthMax) return { items }
  return { items, next: redact(next) }
}

/** The first different values of a column, each as a preview shows it. */
function shownOf(column: string, values: readonly Cell[], showing: Showing): string[] {
  const personal = isPersonal({ field: column, definition: undefined })
  const found = new Set<string>()
  for (const value of values) {
    const text = shorten(value, personal, showing)
    if (text) found.add(storable(text).toWellFormed())
    if (found.size >= limits.discoverySamplesMax) break
  }
  return [...found]
}

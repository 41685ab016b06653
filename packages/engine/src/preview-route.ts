import { asConnectorError } from '@penstock/connector'
import type { Preview } from '@penstock/wire'
import { requireMapping } from './map-rows.ts'
import { type RouteSide, routeOf, sentenceOfRoute } from './transfer/route.ts'

/** Maximum duration of finding the route. */
const routeMs = 5_000
/** Maximum files that are inspected. A transfer inspects all files. */
const filesMax = 16

/**
 * The route that the rows of a transfer would take. Changes nothing.
 * @param whyNot why the stages require the rows to pass through a worker, if they do
 * @returns nothing if there is only one route, or if it could not be determined in time. The findings explain why a side cannot
 * be asked
 */
export async function previewRoute(
  source: RouteSide,
  destination: RouteSide,
  whyNot: string | undefined,
  signal: AbortSignal,
  boundMs: number,
): Promise<Pick<Preview, 'route'>> {
  if (boundMs <= 0) return {}
  const late = AbortSignal.any([signal, AbortSignal.timeout(Math.floor(Math.min(boundMs, routeMs)))])
  const timed = (side: RouteSide): RouteSide => ({ ...side, context: { ...side.context, signal: late } })
  const mappingFor = (columns: readonly string[]) => requireMapping(destination.connector, columns, destination.context)
  const transfer = { transferId: '0'.repeat(16), attempt: 1, startedTime: new Date().toISOString() }
  try {
    const route = await routeOf(
      { source: timed(source), destination: timed(destination), signal: late, mappingFor, filesMax, transfer },
      whyNot,
    )
    if (!route) return {}
    const whyNotTable = route.by === 'destination' ? await route.whyNotTable() : undefined
    const taken = whyNotTable === undefined ? route : { by: 'worker' as const, whyNot: whyNotTable }
    return {
      route: {
        by: taken.by,
        reason: destination.redact(
          sentenceOfRoute(taken, { source: source.connector.name, destination: destination.connector.name }),
        ),
      },
    }
  } catch (error) {
    signal.throwIfAborted()
    if (asConnectorError(error) || late.aborted) return {}
    throw error
  }
}

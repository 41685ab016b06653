import { asConnectorError, type Connector, type InspectionContext, type Rejection } from '@penstock/connector'
import type { Preview } from '@penstock/wire'
import type { SideSecrets } from './side-secrets.ts'

type Tried = Pick<Preview, 'findings' | 'createdColumns'> & { readonly rejected: readonly Rejection[] }

/**
 * Rows that the destination refuses when it is asked, and a finding if it could not be asked.
 * @param known whether the inspection has findings that explain why the destination cannot be asked
 */
export async function tryRows(
  { destination }: Connector,
  context: InspectionContext,
  redact: SideSecrets['redact'],
  boundMs: number,
  known: boolean,
): Promise<Tried> {
  const find = destination?.deliver?.tryRows
  const without = (why: string): Tried => ({ rejected: [], findings: known ? [] : [notTried(redact(why))] })
  if (!find || context.rows.length === 0) return { rejected: [], findings: [] }
  if (boundMs <= 0) return without('there was no time left')
  try {
    const {
      rejected,
      untried = [],
      created = [],
    } = await find({
      ...context,
      signal: AbortSignal.any([context.signal, AbortSignal.timeout(Math.floor(boundMs))]),
    })
    const message = `A transfer may reject further records: the preview does not try ${untried.join(', ')}.`
    const findings: Tried['findings'] = untried.length > 0 ? [{ code: 'rows_not_tried', message, column: null }] : []
    return { rejected, findings, ...(created.length > 0 && { createdColumns: [...created] }) }
  } catch (error) {
    context.signal.throwIfAborted()
    const connectorError = asConnectorError(error)
    if (connectorError) return without(connectorError.message)
    if (error instanceof Error && error.name === 'TimeoutError')
      return without('the destination did not answer in time')
    throw error
  }
}

const notTried = (why: string): Preview['findings'][number] => ({
  code: 'rows_not_tried',
  message:
    `A transfer may reject records that this preview shows, because they could not be tried at the destination: ${why}`.replace(
      /\.?$/,
      '.',
    ),
  column: null,
})
